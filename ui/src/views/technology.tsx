// SPDX-License-Identifier: Apache-2.0
// Technology: a device from a process node, a memory and a network; where its area and power go, and what it buys.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { post } from '../api';
import { area, byteRate, bytes, dollars, flopRate, grouped, hertz, percent, watts } from '../format';
import { useLive, useRested } from '../live';
import { Unanswered } from '../parts/answered';
import { Assumptions } from '../parts/evidence';
import { CountField } from '../parts/bound';
import { Picker, Problems, problemsOf } from '../parts/fields';
import { NodeCurves } from '../parts/node-curves';
import type { Chosen } from '../parts/node-curves';
import { Side } from '../parts/side';
import { TierFields, useDrams, useFacts } from '../parts/tier';
import { TreemapFigure } from '../parts/treemap';
import type { Piece } from '../parts/treemap';
import { chooseUnlessLocked } from '../choose';
import { makeOnce, recipeOf } from '../made';
import { change, numberIn, open, params, presets, withoutSystem } from '../state';
import { systemName } from '../tech';
import type { LinkFacts, NodeFacts, Ranged } from '../tech';
import { partsOf, textOf } from '../tier';
import type { Fields, Problem, TechAnswer } from '../types';
import { Headline, split } from './predict';
import type { Range } from './predict';

const areas = [100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 814, 858];
const limits = [0, 200, 300, 400, 500, 600, 700, 800, 1000, 1200, 1400, 1600, 2000];
const stackCounts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12];

/** The request for `tech`; what is zero or empty is left to the program. */
function chosen(): Chosen {
  const node = params.value['node'] ?? 'n3';
  const dram = params.value['dram'] ?? 'hbm4';
  const network = params.value['network'] ?? 'ib-ndr';
  const power = numberIn('power', 0);
  const stacks = numberIn('stacks', 0);
  const link = params.value['link_gen'];
  const tier = partsOf(params.value['tier']);
  const fields: Fields = {
    area: `${numberIn('area', 814)} mm2`,
    dies: numberIn('dies', 1),
    network,
    ...(power > 0 ? { power: `${power} W` } : {}),
    ...(stacks > 0 ? { stacks } : {}),
    ...(link ? { link_gen: link } : {}),
    ...(tier ? { tier: textOf(tier) } : {}),
  };
  return { node, dram, network, fields };
}

const tones: Record<string, [string, string]> = {
  cores: ['var(--work)', 'var(--on-work)'],
  matrix: ['var(--work)', 'var(--on-work)'],
  l2: ['var(--work-2)', 'var(--on-work-2)'],
  memory: ['var(--link)', 'var(--on-link)'],
  links: ['var(--rest)', 'var(--on-rest)'],
  crossbar: ['var(--rest)', 'var(--on-rest)'],
  die: ['var(--rest)', 'var(--on-rest)'],
  standby: ['var(--rest-2)', 'var(--on-rest-2)'],
  unused: ['var(--well)', 'var(--faint)'],
};

const piecesOf = (parts: Record<string, number>): Piece[] =>
  Object.entries(parts)
    .filter(([, value]) => value > 0)
    .map(([label, value]) => {
      const [tone, ink] = tones[label] ?? ['var(--rest-2)', 'var(--on-rest-2)'];
      return { label, value, tone, ink };
    });

const precisions: [string, string][] = [
  ['fp32', '32-bit'],
  ['fp8', '8-bit'],
  ['fp4', '4-bit'],
];

/** Where numbers of this device lie, given what is known of its parts; nothing where all of that is certain. */
function useSpread(body: Fields, parts: (Ranged | undefined)[]): Spread {
  const uncertain = parts.some((part) => part?.ranges !== undefined);
  const rested = useRested(uncertain ? JSON.stringify(body) : null);
  const sampled = useLive<TechAnswer>(rested, (signal) => post('/tech', { ...body, uncertainty: true }, signal));
  const known = rested !== null && sampled.settled && sampled.problems.length === 0 ? sampled.answer : null;
  return (name, show) => {
    const found = known?.technology_uncertainty?.quantiles.find((entry) => entry.name === name);
    if (!found) return uncertain ? 'later' : undefined;
    return { low: found.p10, value: found.value, high: found.p90, show, cases: 'eight' };
  };
}

type Spread = (name: string, show: (value: number) => string) => Range | 'later' | undefined;

function Device({ answer, spread }: { answer: TechAnswer; spread: Spread }): JSX.Element {
  const device = answer.device;
  const peaks: Record<string, number> = device.matrix;
  const total = (parts: Record<string, number>): number => Object.values(parts).reduce((sum, value) => sum + value, 0);
  return (
    <>
      <dl class="headlines">
        <Headline
          main
          label="16-bit peak"
          {...split(flopRate(device.matrix['bf16'] ?? 0))}
          range={spread('peak_flops_per_second', flopRate)}
          detail={`${flopRate(answer.sustained_flops_per_second)} sustained at ${hertz(answer.sustained_clock_hertz)}`}
        />
        <Headline
          label="memory bandwidth"
          {...split(byteRate(device.memory.bandwidth))}
          range={spread('memory_bytes_per_second', byteRate)}
          detail={`${bytes(device.memory.capacity)}, ${answer.stacks} × ${device.memory.kind}`}
        />
        {device.tier.capacity > 0 && (
          <Headline
            label="second memory"
            {...split(byteRate(device.tier.bandwidth))}
            detail={`${bytes(device.tier.capacity)} of ${device.tier.kind}${device.tier.read_only ? ', for weights' : ''}`}
          />
        )}
        <Headline
          label="links"
          {...split(byteRate(answer.link_bytes_per_second))}
          detail={`${answer.links} links, one direction`}
        />
        <Headline
          label="power"
          {...split(watts(device.power.limit))}
          range={spread('power_watts', watts)}
          detail={`${device.cores} cores of ${answer.cores_on_die}`}
        />
        <Headline
          label="cost"
          value={dollars(answer.cost_dollars)}
          range={spread('cost_dollars', dollars)}
          detail={`silicon ${dollars(answer.die_cost_dollars)} at a yield of ${percent(answer.yield, 0)}, memory ${dollars(answer.memory_cost_dollars)}, package ${dollars(answer.package_cost_dollars)}, board ${dollars(answer.board_cost_dollars)}`}
        />
      </dl>
      <p class="note">
        {precisions
          .filter(([name]) => (peaks[name] ?? 0) > 0)
          .map(([name, label]) => `${label} ${flopRate(peaks[name] ?? 0)}`)
          .join(', ')}
        ; L2 {bytes(device.l2.capacity)}.
      </p>
      <div class="pair">
        <TreemapFigure
          name="area"
          title="Where the area goes"
          note={`${area(total(answer.area_m2))} of silicon`}
          pieces={piecesOf(answer.area_m2)}
          show={area}
          unit="m2"
        />
        <TreemapFigure
          name="power"
          title="Where the power goes"
          note={`${watts(total(answer.power_watts))}, in a large multiply that goes on`}
          pieces={piecesOf(answer.power_watts)}
          show={watts}
          unit="watts"
        />
      </div>
    </>
  );
}

/** Names that stand for the same process are one point of the axis. */
function distinct(nodes: NodeFacts[]): NodeFacts[] {
  // Of two names the one that its maker uses: A14 rather than 1.4 nm.
  const foreign = (node: NodeFacts): number =>
    Number(!node.process.toLowerCase().includes(node.name)) +
    Number(!node.process.includes(node.name.replace(/^\D/, '')));
  const seen = new Set<string>();
  const kept = [...nodes]
    .sort((a, b) => foreign(a) - foreign(b) || b.name.length - a.name.length)
    .filter((node) => !seen.has(node.process) && seen.add(node.process));
  const size = (node: NodeFacts): number => Number.parseFloat(node.name.slice(1));
  return kept.sort((a, b) => a.year - b.year || size(b) - size(a));
}

/** The device at hand as the scenario's system, from here on. */
async function use(body: Fields, answer: TechAnswer): Promise<void> {
  const made = recipeOf(body);
  await makeOnce(made);
  addEventListener('hashchange', () => void chooseUnlessLocked(), { once: true });
  open('predict', { ...withoutSystem(params.value), system: systemName(answer), made });
}

const compared = ['hbm2e', 'hbm3', 'hbm3e', 'hbm4', 'hbm5', 'hbm6'];

export function Technology(): JSX.Element {
  const choice = chosen();
  const lists = presets.value;
  const names = (list: { name: string }[] | undefined): string[] => (list ?? []).map((entry) => entry.name);
  const nodes = useFacts<NodeFacts>('nodes', names(lists?.nodes));
  const drams = useDrams();
  const links = useFacts<LinkFacts>('links', names(lists?.links));
  const body: Fields = { ...choice.fields, node: choice.node, dram: choice.dram };
  const live = useLive<TechAnswer>(JSON.stringify(body), (signal) => post('/tech', body, signal));
  const named = <T extends { name: string }>(list: T[], name: unknown): T | undefined =>
    list.find((entry) => entry.name === name);
  const spread = useSpread(body, [
    named(nodes, choice.node),
    named(drams, choice.dram),
    named(links, choice.network),
    named(links, params.value['link_gen']),
  ]);
  const of = (field: string): Problem[] => problemsOf(live.problems, field);
  const used = { values: {}, choices: undefined, problems: live.problems };
  const byYear = <T extends { year: number; name: string }>(list: T[], detail: (entry: T) => string) =>
    [...list]
      .sort((a, b) => a.year - b.year)
      .map((entry) => ({ name: entry.name, detail: `${detail(entry)}, ${entry.year}` }));
  const axis = useMemo(() => distinct(nodes), [nodes]);
  const lines = useMemo(
    () => [...new Set([...compared.filter((name) => drams.some((dram) => dram.name === name)), choice.dram])],
    [drams, choice.dram],
  );
  return (
    <div class="columns">
      <Side title="Technology">
        <form class="scenario" onSubmit={(event) => event.preventDefault()}>
          <Picker
            label="Process node"
            name="node"
            value={choice.node}
            options={byYear(nodes, (node) => node.process)}
            problems={of('node')}
            onChange={(node) => change({ node })}
          />
          <Picker
            label="Memory"
            name="dram"
            value={choice.dram}
            options={byYear(
              drams.filter((dram) => !dram.read_only),
              (dram) => `${byteRate(dram.bandwidth)} a part`,
            )}
            problems={of('dram')}
            onChange={(dram) => change({ dram })}
          />
          <TierFields drams={drams} problems={of('tier')} />
          <Picker
            label="Network between nodes"
            name="network"
            value={choice.network}
            options={byYear(
              links.filter((link) => link.reach === 'cluster'),
              (link) => `${link.title}, ${byteRate(link.bandwidth)}`,
            )}
            problems={of('network')}
            onChange={(network) => change({ network })}
          />
          <Picker
            label="Links inside a node"
            name="link_gen"
            value={params.value['link_gen'] ?? 'by node'}
            options={[
              { name: 'by node', detail: 'what its time had' },
              ...byYear(
                links.filter((link) => link.reach === 'node'),
                (link) => link.title,
              ),
            ]}
            problems={of('link_gen')}
            onChange={(link) => change({ link_gen: link === 'by node' ? undefined : link })}
          />
          <h2>Budgets</h2>
          <CountField name="area" used={used} fallback={814} values={areas} show={(value) => `${value} mm²`} />
          <CountField name="dies" used={used} fallback={1} values={[1, 2, 4]} usual={1} />
          <CountField
            name="power"
            hint="0: what it needs"
            used={used}
            fallback={0}
            values={limits}
            show={(value) => (value === 0 ? 'as needed' : `${value} W`)}
            usual={0}
          />
          <CountField
            name="stacks"
            hint="0: as many as the edge holds"
            used={used}
            fallback={0}
            values={stackCounts}
            show={(value) => (value === 0 ? 'all' : String(value))}
            usual={0}
          />
          <h2>Workloads of the curves</h2>
          <Picker
            label="Training"
            name="train_model"
            value={params.value['train_model'] ?? 'gpt3-175b'}
            options={lists?.models ?? []}
            onChange={(model) => change({ train_model: model })}
          />
          <Picker
            label="Serving"
            name="infer_model"
            value={params.value['infer_model'] ?? 'llama2-13b'}
            options={lists?.models ?? []}
            onChange={(model) => change({ infer_model: model })}
          />
        </form>
      </Side>
      <main>
        <header class="title">
          <h1>
            A device of {choice.node.toUpperCase()} and {choice.dram.toUpperCase()}
          </h1>
          <p class="subtitle">
            {live.answer
              ? `${grouped(numberIn('area', 814))} mm² of ${named(nodes, choice.node)?.process ?? choice.node}, ${live.answer.device.name}; generated, not measured`
              : ' '}
          </p>
        </header>
        {live.answer ? (
          <div class={`result ${live.problems.length > 0 ? 'stale' : ''}`} data-ready={live.problems.length === 0}>
            <Problems of={live.problems} named />
            <p class="toolbar">
              <button type="button" class="primary" onClick={() => live.answer && void use(body, live.answer)}>
                Use this device
              </button>
              <span class="hint">as the system of every view, eight a node</span>
            </p>
            <Device answer={live.answer} spread={spread} />
          </div>
        ) : (
          <Unanswered busy={live.busy} problems={live.problems} />
        )}
        {axis.length > 0 && <NodeCurves choice={choice} nodes={axis} drams={lines} />}
        {live.answer && <Assumptions of={live.answer.assumptions} />}
      </main>
    </div>
  );
}
