/** What the API's schemas need and JSON Schema says differently from Swagger 2.0. */

import { type Static, type TSchema, Type } from 'typebox'

/** A field of an answer that is always there and may be null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, 'x-nullable': true })
}

/** A field of an answer that is left out where there is nothing to say. */
export function omissible<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Unsafe<Static<T>>({ ...schema, 'x-omitempty': true }))
}

/** The answer is the bytes of a file or a text, and no JSON. */
export const FILE = Type.Unsafe<never>({ type: 'file' })

/** An instant (RFC 3339). */
export const TIME = Type.String({ format: 'date-time' })
