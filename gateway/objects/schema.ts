/** Schemas of fields that Swagger 2.0 expresses differently from JSON Schema. */

import { type Static, type TSchema, Type } from 'typebox'

/** Returns the schema of a reply's field that is always present and can be null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, 'x-nullable': true })
}

/** Returns the schema of a reply's field that is omitted if it has no value. */
export function omissible<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Unsafe<Static<T>>({ ...schema, 'x-omitempty': true }))
}

/** Schema of a reply that is a file or a text, not JSON. */
export const FILE = Type.Unsafe<never>({ type: 'file' })

/** Schema of a time (RFC 3339). */
export const TIME = Type.String({ format: 'date-time' })
