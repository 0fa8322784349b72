// Types of values, as a node says them, and their bits: the first one is the lowest.

export type Type =
    | "bool"
    | "f32"
    | "f64"
    | { uint: number }
    | { int: number }
    | { text: number }
    | { fixed: { int: number; frac: number } }
    | { array: { len: number; elem: Type } }
    | { tuple: Type[] }
    | { struct: { name: string; fields: Field[] } }
    | { enum: { name: string; variants: { name: string; types: Type[] }[] } };

export interface Field {
    name: string;
    type: Type;
}

/**
 * A value. Integers are `bigint`, or `number` where they are safe; tuples and arrays are arrays;
 * structs are objects; `null` is the first variant of an `Option`, and any other value its second;
 * other enumerations are a variant's name, or an object with the name and an array of values.
 */
export type Value = boolean | number | bigint | string | null | Value[] | { [name: string]: Value };

type Variants = { name: string; types: Type[] }[];

function tagBits(variants: Variants): number {
    return Math.ceil(Math.log2(Math.max(1, variants.length)));
}

function total(types: Type[]): number {
    return types.reduce((sum, type) => sum + width(type), 0);
}

/** The number of bits of a type. */
export function width(type: Type): number {
    if (type === "bool") return 1;
    if (type === "f32") return 32;
    if (type === "f64") return 64;
    if ("uint" in type) return type.uint;
    if ("int" in type) return type.int;
    if ("text" in type) return 8 * type.text;
    if ("fixed" in type) return type.fixed.int + type.fixed.frac;
    if ("array" in type) return type.array.len * width(type.array.elem);
    if ("tuple" in type) return total(type.tuple);
    if ("struct" in type) return total(type.struct.fields.map((field) => field.type));
    const { variants } = type.enum;
    return tagBits(variants) + Math.max(0, ...variants.map((variant) => total(variant.types)));
}

function isOption(name: string, variants: Variants): boolean {
    const [none, some] = variants;
    return name === "Option" && variants.length === 2 && none?.types.length === 0
        && some?.types.length === 1;
}

function integer(value: Value, bits: number, signed: boolean): bigint {
    const safe = typeof value === "bigint" || Number.isSafeInteger(value);
    if (!safe) throw new RangeError("an integer is needed: a bigint, or a safe number");
    const number = BigInt(value as number | bigint);
    const [least, most] = signed
        ? [-(1n << BigInt(bits - 1)), 1n << BigInt(bits - 1)]
        : [0n, 1n << BigInt(bits)];
    if (number < least || number >= most) throw new RangeError(`it does not fit into ${bits} bits`);
    return number;
}

function push(bits: boolean[], number: bigint, count: number): void {
    for (let bit = 0n; bit < BigInt(count); bit += 1n) bits.push(((number >> bit) & 1n) === 1n);
}

function list(value: Value, length: number): Value[] {
    if (!Array.isArray(value) || value.length !== length) {
        throw new TypeError(`${length} values are needed`);
    }
    return value;
}

/** Appends the bits of a value. An error never repeats it. */
export function encode(type: Type, value: Value, bits: boolean[]): void {
    if (type === "bool") {
        if (typeof value !== "boolean") throw new TypeError("true or false is needed");
        bits.push(value);
    } else if (type === "f32" || type === "f64") {
        if (typeof value !== "number") throw new TypeError("a number is needed");
        const view = new DataView(new ArrayBuffer(8));
        if (type === "f32") view.setFloat32(0, value, true);
        else view.setFloat64(0, value, true);
        push(bits, view.getBigUint64(0, true), width(type));
    } else if ("uint" in type) {
        push(bits, integer(value, type.uint, false), type.uint);
    } else if ("int" in type) {
        push(bits, integer(value, type.int, true), type.int);
    } else if ("array" in type) {
        const { len, elem } = type.array;
        for (const element of list(value, len)) encode(elem, element, bits);
    } else if ("tuple" in type) {
        const parts = list(value, type.tuple.length);
        type.tuple.forEach((part, place) => encode(part, parts[place] as Value, bits));
    } else if ("struct" in type) {
        const { fields } = type.struct;
        if (typeof value !== "object" || value === null || Array.isArray(value)) {
            throw new TypeError("an object is needed");
        }
        const known = new Set(fields.map((field) => field.name));
        if (Object.keys(value).some((name) => !known.has(name))) {
            throw new TypeError("an object has a field that the type does not have");
        }
        for (const { name, type: part } of fields) {
            if (!Object.hasOwn(value, name)) throw new TypeError(`there is no field ${name}`);
            encode(part, value[name] as Value, bits);
        }
    } else if ("enum" in type) {
        encodeVariant(type.enum, value, bits);
    } else {
        throw new TypeError("texts and fixed-point numbers cannot be given from here");
    }
}

function encodeVariant(
    { name, variants }: { name: string; variants: Variants }, value: Value, bits: boolean[],
): void {
    const end = bits.length + width({ enum: { name, variants } });
    let [chosen, parts]: [number, Value[]] = [-1, []];
    if (isOption(name, variants)) {
        [chosen, parts] = value === null ? [0, []] : [1, [value]];
    } else if (typeof value === "string") {
        chosen = variants.findIndex((variant) => variant.name === value);
    } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        const [variant] = Object.keys(value);
        chosen = variants.findIndex((known) => known.name === variant);
        parts = (variant === undefined ? [] : value[variant]) as Value[];
    }
    const variant = variants[chosen];
    if (variant === undefined) throw new TypeError("the type has no such variant");
    push(bits, BigInt(chosen), tagBits(variants));
    const given = list(parts, variant.types.length);
    variant.types.forEach((part, place) => encode(part, given[place] as Value, bits));
    while (bits.length < end) bits.push(false);
}

function number(bits: boolean[]): bigint {
    return bits.reduceRight((sum, bit) => (sum << 1n) | (bit ? 1n : 0n), 0n);
}

function split(types: Type[], bits: boolean[]): Value[] {
    let start = 0;
    return types.map((type) => {
        const end = start + width(type);
        const value = decode(type, bits.slice(start, end));
        start = end;
        return value;
    });
}

/** Returns the value with these bits. Integers are `bigint`. */
export function decode(type: Type, bits: boolean[]): Value {
    if (type === "bool") return bits[0] === true;
    if (type === "f32" || type === "f64") {
        const view = new DataView(new ArrayBuffer(8));
        view.setBigUint64(0, number(bits), true);
        return type === "f32" ? view.getFloat32(0, true) : view.getFloat64(0, true);
    }
    if ("uint" in type) return number(bits);
    if ("int" in type) return BigInt.asIntN(type.int, number(bits));
    if ("array" in type) return split(Array<Type>(type.array.len).fill(type.array.elem), bits);
    if ("tuple" in type) return split(type.tuple, bits);
    if ("struct" in type) {
        const values = split(type.struct.fields.map((field) => field.type), bits);
        return Object.fromEntries(
            type.struct.fields.map(({ name }, place) => [name, values[place] as Value]),
        );
    }
    if ("enum" in type) {
        const { name, variants } = type.enum;
        const tag = tagBits(variants);
        const variant = variants[Number(number(bits.slice(0, tag)))] ?? variants[0];
        if (variant === undefined) throw new TypeError("the type has no variant");
        const values = split(variant.types, bits.slice(tag));
        if (isOption(name, variants)) return values[0] ?? null;
        return values.length === 0 ? variant.name : { [variant.name]: values };
    }
    throw new TypeError("texts and fixed-point numbers cannot be read from here");
}
