/** Names of stored objects: keys spread over folders, so that no folder grows too large. */

const KEY = /^[0-9a-f]{64}-[0-9a-f]{16}$/

/** Returns `ab/cd/<key>`. Throws an Error for an invalid key, which could name other files. */
export function objectNameOf(key: string): string {
  if (!KEY.test(key)) throw new Error('invalid blob key')
  return `${key.slice(0, 2)}/${key.slice(2, 4)}/${key}`
}

/** Returns the key of an object name; undefined for any other name. */
export function keyOfObject(name: string): string | undefined {
  const key = name.slice(name.lastIndexOf('/') + 1)
  return KEY.test(key) && objectNameOf(key) === name ? key : undefined
}
