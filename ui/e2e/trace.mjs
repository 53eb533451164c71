// SPDX-License-Identifier: Apache-2.0
// A small trace as torch.profiler writes it: steps of layers, each with multiplies, a kernel that is slower than it need
// be, one that the host launches late, and work that names no operator.

/** Microseconds of a kernel, and what it computes. */
const kernels = [
  {
    op: 'aten::mm',
    dims: [
      [4096, 4096],
      [4096, 12288],
    ],
    us: 640,
  },
  {
    op: 'aten::_flash_attention_forward',
    dims: [
      [4, 1024, 32, 128],
      [4, 1024, 32, 128],
      [4, 1024, 32, 128],
    ],
    us: 190,
  },
  {
    op: 'aten::mm',
    dims: [
      [4096, 4096],
      [4096, 4096],
    ],
    us: 400,
  },
  {
    op: 'aten::mul',
    dims: [
      [4096, 11008],
      [4096, 11008],
    ],
    us: 230,
  },
  { op: 'aten::native_layer_norm', dims: [[4, 1024, 4096], [4096]], us: 30 },
];

export function trace({ steps = 2, layers = 8 } = {}) {
  const events = [];
  let id = 0;
  let host = 0;
  let device = 60;
  const add = (event) => events.push({ ph: 'X', pid: 1, tid: 1, ...event });
  for (let step = 0; step < steps; step++) {
    const began = host;
    for (let layer = 0; layer < layers; layer++)
      for (const { op, dims, us } of kernels) {
        id++;
        // In every fourth layer the host is late.
        host += layer % 4 === 3 ? 1500 : 20;
        const types = dims.map(() => 'c10::BFloat16');
        add({
          cat: 'cpu_op',
          name: op,
          ts: host,
          dur: 15,
          args: { 'External id': id, 'Input Dims': dims, 'Input type': types },
        });
        add({ cat: 'cuda_runtime', name: 'cudaLaunchKernel', ts: host + 5, dur: 4, args: { correlation: id } });
        device = Math.max(device + 2, host + 12);
        add({
          cat: 'kernel',
          name: `kernel_of_${op.replace('aten::', '')}`,
          pid: 0,
          tid: 7,
          ts: device,
          dur: us,
          args: { device: 0, stream: 7, correlation: id, grid: [128, 1, 1], block: [384, 1, 1] },
        });
        device += us;
      }
    add({ cat: 'kernel', name: 'of_nobody', pid: 0, tid: 7, ts: device + 2, dur: 50, args: { device: 0, stream: 7 } });
    device += 52;
    host = Math.max(host, device);
    add({ cat: 'user_annotation', name: `ProfilerStep#${step}`, ts: began, dur: host - began });
  }
  return JSON.stringify({
    deviceProperties: [{ id: 0, name: 'NVIDIA H200' }],
    record_shapes: 1,
    traceEvents: events,
  });
}

/** Requests as a CSV of arrivals, inputs and outputs. */
export const requests = (count) =>
  [
    'arrival,input,output',
    ...Array.from({ length: count }, (_, i) => `${i * 0.25},${400 + ((i * 37) % 300)},${40 + ((i * 13) % 60)}`),
  ].join('\n') + '\n';
