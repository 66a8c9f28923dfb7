import * as z from 'zod';

const TEXT_TYPES: ReadonlySet<string> = new Set(['string', 'enum', 'literal']);

/**
 * The part of a body declared as `Body` that a client can rely on: each field has the declared JSON type, or is null or absent. Other
 * fields are kept.
 */
export type Received<Body> = Body extends string
  ? string
  : Body extends readonly (infer Item)[]
    ? Received<Item>[]
    : Body extends object
      ? { [name: string]: unknown } & { [Name in keyof Body]?: Received<NonNullable<Body[Name]>> | null | undefined }
      : Body;

/** As `Received`, but with the fields in `Required` typed by these schemas. */
type ReceivedWith<Body, Required> = Received<Omit<Body, keyof Required>> & Required;

/**
 * A lenient schema for a declared body. Fields that the specification does not show may be absent, null or of another type; a field
 * of another type reads as absent. Formats, ranges and enumerated values are not checked.
 *
 * @param required fields without which the body is useless.
 */
export function received<Shape extends z.ZodRawShape>(
  body: z.ZodObject<Shape>,
): z.ZodType<Received<z.output<z.ZodObject<Shape>>>>;
export function received<Shape extends z.ZodRawShape, Required extends z.ZodRawShape>(
  body: z.ZodObject<Shape>,
  required: Required,
): z.ZodType<ReceivedWith<z.output<z.ZodObject<Shape>>, z.output<z.ZodObject<Required>>>>;
export function received(body: z.ZodObject<z.ZodRawShape>, required: z.ZodRawShape = {}): z.ZodType {
  const fields = Object.entries(body.shape).map(([name, field]) => [name, readerOf(field).nullish().catch(undefined)]);
  return z.looseObject({ ...Object.fromEntries(fields), ...required });
}

/**
 * A JSON object with its fields as the service sent them (specification, section 4.2), which for other services may be of other types than
 * those of `Body`. What relies on a field reads the object through `received`.
 *
 * @param required fields without which the object is useless.
 */
export function asSent<Body extends object>(required?: z.ZodRawShape): z.ZodType<Body>;
export function asSent(required: z.ZodRawShape = {}): z.ZodType {
  return z.looseObject(required);
}

/** A lenient schema for one field, which accepts any value of the declared JSON type. */
export function readerOf(field: z.core.$ZodType): z.ZodType {
  if (field instanceof z.ZodNullable || field instanceof z.ZodOptional) return readerOf(field.unwrap());
  if (field instanceof z.ZodObject) return received(field);
  if (field instanceof z.ZodArray) return z.array(readerOf(field.element));
  const { type } = field._zod.def;
  if (type === 'number') return z.number();
  if (type === 'boolean') return z.boolean();
  if (TEXT_TYPES.has(type)) return z.string();
  throw new TypeError(`A body of the protocol cannot have a field of type ${type}.`);
}
