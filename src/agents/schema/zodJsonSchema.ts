// Loaded when a schema of zod before 4.2 is first used, since zod is as large as the rest of the runtime. A separate module, because
// a dynamic import of zod itself would put all of it, with messages in fifty languages, into a bundle that is not split.
export { toJSONSchema } from 'zod';
