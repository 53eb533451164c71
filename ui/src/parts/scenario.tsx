// SPDX-License-Identifier: Apache-2.0
// The scenario: model, system, workload and strategy. Every control changes the address and nothing else.
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inlined, messageOf } from '../api';
import { chooseStrategy, choosing, chosen, lock, locked, pick } from '../choose';
import { configTitle, packConfig, parseConfig, useConfigOfAddress } from '../configs';
import { parameters, percent, shareOf, tokens } from '../format';
import { address, bare, change, kind, params, presets, remembered, replace, reset, unpackedConfigs } from '../state';
import type { Params } from '../state';
import type { Choices, ModelPreset, Problem } from '../types';
import { ChoiceField, CountField, PartsField, choicesOf, legal, namesIn, number, text } from './bound';
import type { Used } from './bound';
import { Choice, NumberField, Picker, Problems, TextField, Toggle, problemsOf } from './fields';
import type { Option } from './fields';
import { FileButton, dropped } from './files';
import { labelOf, popularFirst } from '../words';
import { Side } from './side';

const lengths = [128, 200, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576];
const powers = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];
/** Where the last answer does not say what is legal: enough to step away from what was refused. */
const anything: Choices = {
  tp: [1, 2, 4, 8, 16],
  pp: [1, 2, 3, 4, 6, 8, 12, 16, 24, 32],
  cp: [1, 2, 4, 8, 16],
  ep: [1, 2, 4, 8, 16, 32, 64],
  dp: [1, 2, 4, 8, 16],
  microbatch: [1, 2, 4, 8, 16],
  interleave: [1, 2, 3, 4, 5, 6, 8, 12],
  zero: [0, 1, 2, 3],
};

function modelDetail(model: ModelPreset): string {
  const size = model.parameters;
  const shown = typeof size === 'number' ? parameters(size) : (size ?? '');
  const layers = model.layers ? `${model.layers} layers` : '';
  const experts = model.experts ? `${model.experts} experts` : '';
  return [shown, layers, experts].filter((text) => text !== '').join(', ');
}

function modelOptions(): Option[] {
  return popularFirst(presets.value?.models ?? [], 'models').map((model) => ({
    name: model.name,
    detail: modelDetail(model),
  }));
}

export function systemOptions(): Option[] {
  const made = params.value['made'] ? [{ name: params.value['system'] ?? '', detail: 'made in Technology' }] : [];
  const listed = popularFirst(presets.value?.systems ?? [], 'systems').map((system) => ({
    name: system.name,
    detail: system.device ? `${system.devices_per_node ?? '?'} × ${system.device} a node` : '',
  }));
  return [...made, ...listed];
}

export function runtimeOptions(training: boolean): Option[] {
  return (presets.value?.runtimes ?? [])
    .filter((runtime) => (training ? runtime.trains : runtime.serves) ?? true)
    .map((runtime) => ({ name: runtime.name, detail: runtime.notes ?? '' }));
}

/** What to call the model at hand, or another scenario's. */
export function modelTitle(values: Params = params.value): string {
  const packed = values['config'];
  return packed ? configTitle(unpackedConfigs.value.get(packed)) : (values['model'] ?? 'the model');
}

/** The model of an answer: what is given as a config.json is called as in the form. */
export const modelOf = ({ model }: { model: string }): string =>
  model === 'custom' && params.value['config'] ? modelTitle() : model;

interface ModelFieldProps {
  problems: Problem[];
  take: (values: Record<string, string | undefined>) => void;
}

/** The model by name, or a config.json pasted, dropped or chosen. */
export function ModelField({ problems, take: takeModel }: ModelFieldProps): JSX.Element {
  const [pasting, setPasting] = useState(false);
  const [complaint, setComplaint] = useState('');
  const unread = useConfigOfAddress();

  const take = async (text: string): Promise<void> => {
    try {
      const parsed = parseConfig(text);
      takeModel({ config: await packConfig(parsed), model: undefined });
      setComplaint('');
      setPasting(false);
    } catch (error) {
      setComplaint(messageOf(error));
    }
  };
  return (
    <div class="model-field" {...dropped((file) => void file.text().then(take))}>
      <Picker
        label="Model"
        name="model"
        value={modelTitle()}
        options={modelOptions()}
        problems={problems.filter(({ field }) => /^model(\.|$)/.test(field))}
        onChange={(model) => takeModel({ model, config: undefined })}
        after={
          <button type="button" class="quiet" aria-expanded={pasting} onClick={() => setPasting(!pasting)}>
            or a Hugging Face config.json
          </button>
        }
      />
      {pasting && (
        <div class="paste">
          <textarea
            rows={5}
            aria-label="config.json"
            placeholder="Paste a config.json here, or drop the file"
            spellcheck={false}
            aria-invalid={complaint !== ''}
            onInput={({ currentTarget: { value } }) => {
              if (value.trim() === '') setComplaint('');
              else void take(value);
            }}
          />
          <FileButton
            label="config.json file"
            accept=".json,application/json"
            take={(file) => void file.text().then(take)}
          />
        </div>
      )}
      {(complaint || unread) && <Problems of={[{ field: 'model', message: complaint || unread }]} />}
    </div>
  );
}

/** A degree of parallelism, or what else an answer lists the legal values of. */
function Degree({
  fallback = 1,
  ...field
}: {
  name: string;
  used: Used;
  label?: string;
  hint?: string;
  fallback?: number;
}): JSX.Element {
  const values = anything[field.name] ?? [number(field.name, field.used, fallback)];
  return <CountField {...field} fallback={fallback} values={values} show={String} />;
}

/** Of models that see; the others have nothing to choose. */
function Images({ used }: { used: Used }): JSX.Element | null {
  const value = number('images', used, 0);
  if (!legal('images', used) && value === 0) return null;
  return <CountField name="images" used={used} fallback={0} values={[0, value]} usual={0} />;
}

function TrainWorkload({ used, anySize }: { used: Used; anySize?: boolean | undefined }): JSX.Element {
  return (
    <>
      {!anySize && <CountField name="gpus" used={used} fallback={8} values={powers} free most={1e7} />}
      <CountField name="batch" used={used} fallback={number('gpus', used, 8)} values={powers} free />
      <CountField name="seq" used={used} fallback={2048} values={lengths.slice(3)} show={tokens} free />
      <Images used={used} />
      <Trained used={used} />
    </>
  );
}

/** Where requests are too long for the model, or were. */
export function AllowLong({ problems }: { problems: Problem[] }): JSX.Element | null {
  const long = ['input', 'output', 'arrivals'].some((name) => problemsOf(problems, name).length > 0);
  if (!long && params.value['allow_long'] === undefined) return null;
  return (
    <Toggle
      label="Go beyond the model’s context"
      name="allow_long"
      checked={params.value['allow_long'] === 'true'}
      onChange={(on) => change({ allow_long: on ? 'true' : undefined })}
    />
  );
}

function ServeWorkload({ used, anyBatch }: { used: Used; anyBatch?: boolean | undefined }): JSX.Element {
  return (
    <>
      {!anyBatch && <CountField name="batch" used={used} fallback={1} values={powers} free most={1e7} />}
      <CountField name="input" used={used} fallback={512} values={lengths} show={tokens} free />
      <Images used={used} />
      <CountField name="output" used={used} fallback={128} values={lengths.slice(0, 9)} show={tokens} free />
      <AllowLong problems={used.problems} />
      <ChoiceField name="batching" used={used} fallback="static" />
    </>
  );
}

/** Parts that the model does not have. */
const lacking = (used: Used): string[] => [
  ...(offersExperts(used) ? [] : ['experts']),
  ...(legal('images', used) ? [] : ['vision']),
];

/** What goes with adapters, and without them is refused. */
const adapting = ['lora_rank', 'adapter', 'lora_targets'];
const usualRank = 16;
const adapterTitles: Readonly<Record<string, string>> = { lora: 'LoRA', qlora: 'QLoRA', dora: 'DoRA' };
export const adapterTitle = (adapter: string): string => adapterTitles[adapter] ?? adapter;

/** What is trained: the weights, or adapters beside them. */
function Trained({ used }: { used: Used }): JSX.Element {
  const rank = number('lora_rank', used, 0);
  const adapters = choicesOf('adapter');
  const train = (adapter: string): void =>
    change(
      adapters.includes(adapter)
        ? { adapter, lora_rank: rank || usualRank, frozen: undefined }
        : Object.fromEntries(adapting.map((name) => [name, undefined])),
    );
  return (
    <>
      <Choice
        label={labelOf('adapter')}
        name="adapter"
        value={rank > 0 ? text('adapter', used, 'lora') : ''}
        options={[['', 'all'], ...adapters.map((name): [string, string] => [name, adapterTitle(name)])]}
        problems={problemsOf(used.problems, 'adapter')}
        onChange={train}
      />
      {rank !== 0 && <CountField name="lora_rank" used={used} fallback={rank} values={powers.slice(0, 10)} free />}
      {namesIn('lora_targets', used).length > 0 && (
        <PartsField name="lora_targets" used={used} without={lacking(used)} />
      )}
    </>
  );
}

/** Dense models have one choice of expert parallelism, which needs no control. */
const offersExperts = (used: Used): boolean => (used.choices?.['ep']?.length ?? 1) > 1 || number('ep', used, 1) > 1;

function TrainPrecision({ used }: { used: Used }): JSX.Element {
  return <ChoiceField name="precision" used={used} fallback="bf16" options={['bf16', 'fp16', 'fp8', 'fp4']} />;
}

/** What a device costs an hour: a number, or the name of a public price list. */
export function PriceField({ problems }: { problems: Problem[] }): JSX.Element {
  return (
    <TextField
      label="Price"
      name="price"
      value={params.value['price'] ?? ''}
      placeholder="$ a GPU and hour, or aws, lambda"
      problems={problemsOf(problems, 'price')}
      onChange={(price) => change({ price })}
    />
  );
}

export function ServePrecision({ used }: { used: Used }): JSX.Element {
  const weights = ['bf16', 'fp8', 'fp4', 'int8', 'int4'];
  return (
    <>
      <ChoiceField label="Weights" name="precision" used={used} fallback="bf16" options={weights} />
      <ChoiceField name="kv_precision" used={used} fallback="bf16" options={['bf16', 'fp8', 'int8']} />
    </>
  );
}

/** The stages that are legal here, and the one that is set. */
function zeroStages(used: Used): string[] {
  const stages = legal('zero', used) ?? anything['zero'] ?? [];
  return [...new Set([...stages, number('zero', used, 0)])].sort().map(String);
}

function TrainStrategy({ used }: { used: Used }): JSX.Element {
  return (
    <>
      {['tp', 'pp', 'interleave', 'cp', ...(offersExperts(used) ? ['ep'] : []), 'microbatch'].map((name) => (
        <Degree key={name} name={name} used={used} />
      ))}
      <p class="derived">
        Data parallel <output>{used.values['dp'] ?? '–'}</output> follows from the rest
      </p>
      <ChoiceField name="zero" used={used} fallback="0" options={zeroStages(used)} />
      <ChoiceField name="recompute" used={used} fallback="none" />
      <TrainPrecision used={used} />
      <Toggle
        label={labelOf('sp')}
        name="sp"
        checked={text('sp', used, 'false') === 'true'}
        onChange={(sp) => change({ sp: String(sp) })}
      />
      <Problems of={problemsOf(used.problems, 'sp')} />
    </>
  );
}

/** Engines that share the attention of a model among them. */
export const attentionReplicas = {
  name: 'dp',
  label: 'Attention replicas',
  hint: 'replicas of attention, each with its share of the requests',
};

function ServeStrategy({ used }: { used: Used }): JSX.Element {
  return (
    <>
      <Degree name="tp" used={used} />
      <Degree name="pp" used={used} />
      {(offersExperts(used) || number('dp', used, 1) > 1) && <Degree {...attentionReplicas} used={used} />}
      {offersExperts(used) && <Degree name="ep" used={used} />}
      <ServePrecision used={used} />
    </>
  );
}

/** Of models that have such layers; the others have nothing to choose. */
function PredictAhead({ used }: { used: Used }): JSX.Element | null {
  if (!legal('predict_ahead', used) && params.value['predict_ahead'] === undefined) return null;
  return <CountField name="predict_ahead" used={used} fallback={0} values={[0]} />;
}

const optimizerTitles: Readonly<Record<string, string>> = {
  adamw: 'AdamW, fp32',
  'adamw-bf16-states': 'bf16 states',
  'adamw-8bit': '8-bit states',
  adafactor: 'Adafactor',
  muon: 'Muon',
  sgd: 'SGD',
};

function MoreTraining({ used }: { used: Used }): JSX.Element {
  const optimizers = choicesOf('optimizer').map((name): [string, string] => [name, optimizerTitles[name] ?? name]);
  return (
    <>
      <ChoiceField name="schedule" used={used} fallback="1f1b" />
      <PartsField name="recompute_modules" used={used} />
      <PredictAhead used={used} />
      <Toggle
        label={labelOf('offload')}
        name="offload"
        checked={text('offload', used, 'false') === 'true'}
        onChange={(on) => change({ offload: on ? 'true' : undefined })}
      />
      <ChoiceField name="optimizer" used={used} fallback="adamw" options={optimizers} />
      {number('lora_rank', used, 0) === 0 && <PartsField name="frozen" used={used} without={lacking(used)} />}
    </>
  );
}

const chunks = [0, 128, 256, 512, 1024, 2048, 4096, 8192];

function MoreServing({ used }: { used: Used }): JSX.Element {
  return (
    <>
      <CountField name="chunk" used={used} fallback={0} values={chunks} usual={0} />
      <Speculating used={used} />
    </>
  );
}

/** What goes with drafts, and without them is refused. */
const drafts = ['speculate', 'draft', 'acceptance', 'draft_cost'];
const undrafted = Object.fromEntries(drafts.map((name) => [name, undefined]));

const byDefault: Option = {
  name: 'by default',
  detail: 'the model’s own prediction layers, if it has any; else a tenth of a step',
};

/** How many tokens are proposed a step, by whom, and how often they are right. */
export function Speculating({ used }: { used: Used }): JSX.Element {
  const of = (name: string): Problem[] => problemsOf(used.problems, name);
  const count = (
    <NumberField
      label={labelOf('speculate')}
      hint="tokens a draft model proposes a step"
      name="speculate"
      value={number('speculate', used, 0)}
      values={[0, 1, 2, 3, 4, 5, 6, 8]}
      problems={of('speculate')}
      onChange={(speculate) => change(speculate === 0 ? undrafted : { speculate })}
    />
  );
  if (!drafts.some((name) => params.value[name])) return count;
  return (
    <>
      {count}
      <Picker
        label="Draft model"
        name="draft"
        value={text('draft', used, '') || byDefault.name}
        options={[byDefault, ...modelOptions()]}
        problems={of('draft')}
        onChange={(draft) => change({ draft: draft === byDefault.name ? undefined : draft })}
      />
      <CountField
        hint="how many of the proposed tokens are right"
        name="acceptance"
        used={used}
        fallback={0.8}
        values={[0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]}
        show={(share) => percent(share, 0)}
        read={shareOf}
        free
      />
      <Problems of={of('draft_cost')} />
    </>
  );
}

/** Switching between training and serving brings back what the other side was last set to. */
export const switchKind = (next: 'train' | 'infer'): void => replace(remembered[next]);

/** Training, or serving. */
export function Question(): JSX.Element {
  return (
    <Choice
      label="Question"
      name="kind"
      value={kind.value}
      options={[
        ['train', 'Training'],
        ['infer', 'Inference'],
      ]}
      onChange={(next) => switchKind(next === 'infer' ? 'infer' : 'train')}
    />
  );
}

/** Back to what the page starts with. */
export function Reset(): JSX.Element {
  return (
    <button type="button" class="quiet reset" disabled={bare.value} onClick={reset}>
      Reset
    </button>
  );
}

/** The strategy is chosen for those who do not want to, and stays for those who do. */
function Chosen(): JSX.Element {
  const current = chosen.value?.address === address('predict', params.value) ? chosen.value : null;
  return (
    <>
      <h2>Strategy</h2>
      <p class="chosen">
        <button type="button" disabled={choosing.value} onClick={() => void chooseStrategy()}>
          Best for this
        </button>
        <Toggle label="keep when model or system changes" name="lock" checked={locked.value} onChange={lock} />
      </p>
      <p class="note" role="status">
        {choosing.value ? 'Choosing …' : (current?.words ?? '')}
      </p>
    </>
  );
}

/** Fields that are out of sight until something is wrong with them. */
const folded = ['set', 'chunk', ...drafts, 'schedule', 'recompute_modules', 'optimizer', 'predict_ahead', 'frozen'];

interface ScenarioProps {
  used: Used;
  /** Search chooses the strategy itself. */
  free?: boolean;
  /** The view tries sizes of its own. */
  anySize?: boolean;
  /** What only a search asks. */
  aims?: ComponentChildren;
  /** Pipelines exist in training alone. */
  trainingOnly?: boolean;
  extra?: ComponentChildren;
  /** Open on narrow screens too. */
  unfolded?: boolean;
}

export function Scenario({ used, free, anySize, aims, trainingOnly, extra, unfolded }: ScenarioProps): JSX.Element {
  const training = kind.value === 'train';
  const of = (name: string): Problem[] => problemsOf(used.problems, name);
  return (
    <Side title="Scenario" unfolded={unfolded}>
      <form class="scenario" onSubmit={(event) => event.preventDefault()}>
        <fieldset class="all" disabled={inlined !== null}>
          {!trainingOnly && <Question />}
          <Reset />
          {extra}
          <ModelField problems={used.problems} take={free ? change : pick} />
          <Picker
            label="System"
            name="system"
            value={params.value['system'] ?? ''}
            options={systemOptions()}
            problems={of('system')}
            onChange={(system) => (free ? change : pick)({ system })}
          />
          <Picker
            label="Runtime"
            name="runtime"
            value={text('runtime', used, 'by system')}
            options={runtimeOptions(training)}
            problems={of('runtime')}
            onChange={(runtime) => change({ runtime })}
          />
          <h2>Workload</h2>
          {training ? (
            <TrainWorkload used={used} anySize={anySize} />
          ) : (
            <ServeWorkload used={used} anyBatch={free && !anySize} />
          )}
          {free && (training ? <TrainPrecision used={used} /> : <ServePrecision used={used} />)}
          {aims && <h2>Aim</h2>}
          {aims}
          {!free && <Chosen />}
          {!free && (training ? <TrainStrategy used={used} /> : <ServeStrategy used={used} />)}
          <details open={folded.some((name) => of(name).length > 0)}>
            <summary>More</summary>
            {training ? !free && <MoreTraining used={used} /> : <MoreServing used={used} />}
            <TextField
              label="What if"
              name="set"
              value={params.value['set'] ?? ''}
              placeholder="device.memory.bandwidth=8 TB/s; …"
              problems={of('set')}
              onChange={(set) => change({ set })}
            />
          </details>
        </fieldset>
      </form>
    </Side>
  );
}
