// Two parties in one process add 40 and 2: node parties.js LIBRARY ADDRESS. Calls are asynchronous:
// koffi makes them on threads with little stack, and events come back from other threads.
'use strict';

const koffi = require('koffi');

const [library, address] = process.argv.slice(2);
const lib = koffi.load(library);
for (const handle of ['circuit', 'config', 'error', 'inputs', 'outputs', 'session'])
    koffi.opaque(`symbolon_${handle}`);
koffi.struct('symbolon_peer', { address: 'const char *', fingerprint: 'const char *' });
koffi.proto('void symbolon_hear(const void *event, void *data)');

const errorText = lib.func('const char *symbolon_error_text(const symbolon_error *error)');

// A function whose last argument in C is the error, as a promise.
const failing = (name, ...types) => {
    const call = lib.func(name, 'int', [...types, '_Out_ symbolon_error **']);
    return (...args) => new Promise((resolve, reject) => {
        const error = [null];
        call.async(...args, error, (broken, status) => {
            if (broken || status !== 0)
                reject(broken || new Error(`${name}: ${status}, ${errorText(error[0])}`));
            else
                resolve();
        });
    });
};
const out = (handle) => `_Out_ symbolon_${handle} **`;
const keyCreate = failing('symbolon_key_create', 'const char *');
const fingerprintOf = failing('symbolon_key_fingerprint', 'const char *', 'void *');
const configNew = failing('symbolon_config_new', 'uint16_t', 'const char *', 'const char *',
    'const symbolon_peer *', 'size_t', out('config'));
const onProgress = failing('symbolon_config_on_progress', 'symbolon_config *', 'symbolon_hear *',
    'void *');
const builtin = failing('symbolon_circuit_builtin', 'const char *', out('circuit'));
const inputsNew = failing('symbolon_inputs_new', 'symbolon_circuit *', 'uint16_t', out('inputs'));
const inputsUint = failing('symbolon_inputs_uint', 'symbolon_inputs *', 'const char *', 'uint64_t');
const connect = failing('symbolon_connect', 'symbolon_config *', 'symbolon_circuit *',
    out('session'));
const evaluate = failing('symbolon_evaluate', 'symbolon_session *', 'symbolon_inputs *',
    out('outputs'));
const outputsUint = failing('symbolon_outputs_uint', 'symbolon_outputs *', 'const char *',
    '_Out_ uint64_t *');
const free = (handle, pointer) =>
    lib.func(`symbolon_${handle}_free`, 'void', [`symbolon_${handle} *`])(pointer);

const made = async (call, ...args) => {
    const place = [null];
    await call(...args, place);
    return place[0];
};

async function party(number, prints) {
    const peers = prints.map((fingerprint, peer) =>
        ({ address: peer === 0 ? address : null, fingerprint }));
    const config = await made(configNew, number, `${number}.key`, null, peers, 2);
    let events = 0;
    const hear = koffi.register(() => { events++; }, 'symbolon_hear *');
    await onProgress(config, hear, null);
    const circuit = await made(builtin, 'add:64');
    const inputs = await made(inputsNew, circuit, number);
    await inputsUint(inputs, ['x', 'y'][number], [40, 2][number]);
    const session = await made(connect, config, circuit);
    const outputs = await made(evaluate, session, inputs);
    const sum = await made(outputsUint, outputs, 'sum');
    free('outputs', outputs);
    free('session', session);
    free('inputs', inputs);
    free('circuit', circuit);
    free('config', config);
    koffi.unregister(hear);
    if (events === 0)
        throw new Error('no events');
    return sum;
}

async function main() {
    const prints = [];
    for (const number of [0, 1]) {
        await keyCreate(`${number}.key`);
        const text = Buffer.alloc(65);
        await fingerprintOf(`${number}.key`, text);
        prints.push(text.toString('latin1', 0, 64));
    }
    const sums = await Promise.all([0, 1].map((number) => party(number, prints)));
    console.log(sums.join(' '));
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
