export { AssertFailed, Changed, Layout, NotCounted } from "./layout.js";
export type { Answers, LayoutJson, Random, Submission } from "./layout.js";
export { LeftOut, NodeError, Nodes } from "./nodes.js";
export type { Call, Patience } from "./nodes.js";
export type { Field, Type, Value } from "./types.js";
