import assert from "node:assert/strict";
import { test } from "node:test";

import { decode, encode, width, type Type, type Value } from "../src/types.js";

const option = (type: Type): Type => ({
    enum: { name: "Option", variants: [{ name: "None", types: [] }, { name: "Some", types: [type] }] },
});

const colour: Type = {
    enum: {
        name: "Colour",
        variants: [
            { name: "Red", types: [] },
            { name: "Rgb", types: [{ uint: 8 }, { uint: 8 }, { uint: 8 }] },
            { name: "Grey", types: [{ uint: 8 }] },
        ],
    },
};

const point: Type = {
    struct: { name: "Point", fields: [{ name: "x", type: { int: 5 } }, { name: "y", type: "bool" }] },
};

test("values come back", () => {
    const all: [Type, Value][] = [
        ["bool", true],
        [{ uint: 64 }, (1n << 64n) - 1n],
        [{ int: 7 }, -64n],
        ["f32", 1.5],
        ["f64", -0.1],
        [{ array: { len: 3, elem: { uint: 3 } } }, [1n, 7n, 0n]],
        [{ tuple: ["bool", { uint: 2 }] }, [false, 3n]],
        [point, { x: -3n, y: true }],
        [option({ uint: 9 }), null],
        [option({ uint: 9 }), 300n],
        [colour, "Red"],
        [colour, { Rgb: [1n, 2n, 255n] }],
        [colour, { Grey: [9n] }],
    ];
    for (const [type, value] of all) {
        const bits: boolean[] = [];
        encode(type, value, bits);
        assert.equal(bits.length, width(type));
        assert.deepEqual(decode(type, bits), value);
    }
});

test("what does not fit is refused, and not repeated", () => {
    const wrong: [Type, Value][] = [
        [{ uint: 8 }, 25677],
        [{ int: 8 }, -25677n],
        [{ uint: 64 }, 2 ** 60],
        ["bool", 25677],
        [{ array: { len: 2, elem: "bool" } }, [true]],
        [point, { x: 1, y: true, z: 25677 }],
        [point, { x: 1 }],
        [colour, "Blue"],
        [colour, { Grey: [] }],
        [{ text: 3 }, "abc"],
    ];
    for (const [type, value] of wrong) {
        assert.throws(() => encode(type, value, []), (error: Error) => !/25677/.test(error.message));
    }
});
