// Tokenises a program with the grammar and checks the scopes that editors colour by.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const oniguruma = require('vscode-oniguruma');
const { Registry, INITIAL } = require('vscode-textmate');

const wasm = readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')).buffer;
await oniguruma.loadWASM(wasm);
const grammar = readFileSync(new URL('./syntaxes/sym.tmLanguage.json', import.meta.url), 'utf8');
const registry = new Registry({
    onigLib: Promise.resolve({
        createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
        createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => JSON.parse(grammar),
});
const sym = await registry.loadGrammar('source.sym');

/** The innermost scope of each word of a text. */
function scopes(text) {
    const found = {};
    let state = INITIAL;
    for (const line of text.split('\n')) {
        const { tokens, ruleStack } = sym.tokenizeLine(line, state);
        state = ruleStack;
        for (const { startIndex, endIndex, scopes } of tokens) {
            found[line.slice(startIndex, endIndex).trim()] = scopes.at(-1);
        }
    }
    return found;
}

const found = scopes(
    'fn main(bid: [u32; PARTIES] from each) -> (top: u32 to all) {\n' +
        '    /* a /* nested */ comment */ let mut top = 0x1f; // why\n' +
        '    for b in bid { top = max(top, b); }\n' +
        '    assert(top > 0, "no bid"); top }',
);
assert.equal(found['fn'], 'storage.type.function.sym');
assert.equal(found['main'], 'entity.name.function.sym');
assert.equal(found['u32'], 'support.type.primitive.sym');
assert.equal(found['PARTIES'], 'constant.language.sym');
assert.equal(found['from'], 'keyword.other.sym');
assert.equal(found['0x1f'], 'constant.numeric.integer.sym');
assert.equal(found['for'], 'keyword.control.sym');
assert.equal(found['max'], 'entity.name.function.call.sym');
assert.equal(found['assert'], 'keyword.control.assert.sym');
assert.equal(found['// why'], 'comment.line.double-slash.sym');
assert.equal(found['no bid'], 'string.quoted.double.sym');

// Every example is coloured, and none ends inside a text or a comment.
const { readdirSync } = await import('node:fs');
const examples = new URL('../../examples/sym/', import.meta.url);
for (const name of readdirSync(examples).filter((name) => name.endsWith('.sym'))) {
    let state = INITIAL;
    for (const line of readFileSync(new URL(name, examples), 'utf8').split('\n')) {
        state = sym.tokenizeLine(line, state).ruleStack;
    }
    assert.equal(state.depth, 1, `${name} ends inside something`);
}
console.log('the grammar colours programs as it should');
