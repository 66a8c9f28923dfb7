// Loaded when a schema is first used, since zod is as large as the rest of the runtime. A module of its own, because a dynamic
// import of zod itself would put all of it into a bundle that is not split, with the messages of fifty languages.
export { toJSONSchema } from 'zod';
