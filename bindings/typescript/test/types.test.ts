import assert from "node:assert/strict";
import { test } from "node:test";

import { Layout } from "../src/index.js";
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
        [option(option({ uint: 2 })), null],
        [option(option({ uint: 2 })), { Some: [null] }],
        [option(option({ uint: 2 })), { Some: [3n] }],
        [{ text: 6 }, ""],
        [{ text: 6 }, "añ€"],
        [{ text: 4 }, "\u{1f600}"],
        [{ text: 4 }, "\ufeffa"],
        [{ text: 2 }, "hex:fe01"],
        [{ text: 2 }, "hex:0100"],
        [option({ text: 3 }), "abc"],
        [{ fixed: { int: 4, frac: 4 } }, "-7.9375"],
        [{ fixed: { int: 4, frac: 4 } }, "-8.0"],
        [{ fixed: { int: 1, frac: 80 } }, `-0.${(5n ** 80n).toString().padStart(80, "0")}`],
        [{ fixed: { int: 8, frac: 0 } }, "-128.0"],
        [{ fixed: { int: 5000, frac: 4 } }, `hex:${"1".repeat(1251)}`],
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

test("fixed-point numbers are rounded to the nearest, ties to the even one", () => {
    const fixed = (value: Value) => {
        const type: Type = { fixed: { int: 5, frac: 2 } };
        const bits: boolean[] = [];
        encode(type, value, bits);
        return decode(type, bits);
    };
    const all: [Value, string][] = [
        [1.125, "1.0"], ["1.375", "1.5"], [-1.125, "-1.0"], ["-1.3750001", "-1.5"], [3n, "3.0"],
        ["0.1249", "0.0"], ["12.5e-1", "1.25"], [1e-7, "0.0"], ["1e-99999999999999", "0.0"],
        ["0e99999999999999", "0.0"], ["-15.874", "-15.75"], ["0015.750", "15.75"], ["hex:7f", "-0.25"],
    ];
    for (const [value, shown] of all) assert.equal(fixed(value), shown, String(value));
    for (const wrong of ["16", "15.875", "-16.2", "1e99999999999", ".5", "1.", "+1", "", "1e", NaN, true]) {
        assert.throws(() => fixed(wrong), /./, String(wrong));
    }
    assert.equal(fixed("-16.0"), "-16.0");
});

test("layouts with what is no type are refused", () => {
    const wrong: unknown[] = [
        null, "u8", {}, { uint: 0 }, { uint: 1.5 }, { text: -1 }, { uint: 8, int: 8 }, { fixed: {} },
        { array: { len: 1 } }, { tuple: 3 }, { struct: { fields: [{ type: "bool" }] } },
        { enum: { name: "E", variants: [] } }, { enum: { name: "E", variants: [{ name: "A" }] } },
    ];
    for (const type of wrong) {
        const layout = {
            format: "symbolon-clients-1", clients: 1, parties: 2,
            values: [{ name: "x", type: type as Type }], answers: [],
        };
        assert.throws(() => new Layout(layout), TypeError, JSON.stringify(type));
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
        [colour, { Grey: [9n], Red: [] }],
        ["f32", 1e40],
        [{ text: 4 }, "25677"],
        [{ text: 8 }, "25677\0"],
        [{ text: 8 }, "25677\ud800"],
        [{ text: 8 }, 25677],
        [{ fixed: { int: 8, frac: 8 } }, "25677.5"],
        [{ fixed: { int: 8, frac: 8 } }, "25677,5"],
        [{ fixed: { int: 8, frac: 8 } }, "hex:25677"],
    ];
    for (const [type, value] of wrong) {
        assert.throws(() => encode(type, value, []), (error: Error) => !/25677/.test(error.message));
    }
});
