/** Under which name a driver keeps a key: spread over folders, so that none grows too large. */

const KEY = /^[0-9a-f]{64}-[0-9a-f]{16}$/

/** `ab/cd/<key>`. Throws an Error for what is no key, so that no other file is ever named. */
export function objectNameOf(key: string): string {
  if (!KEY.test(key)) throw new Error('a blob was asked for by something that is not its key')
  return `${key.slice(0, 2)}/${key.slice(2, 4)}/${key}`
}

/** The key of which that is the name; undefined for the name of anything else. */
export function keyOfObject(name: string): string | undefined {
  const key = name.slice(name.lastIndexOf('/') + 1)
  return KEY.test(key) && objectNameOf(key) === name ? key : undefined
}
