/** Payloads of events as JSON of limited length. */

/** Number of characters of a payload above which it is shortened. */
const PAYLOAD_CHARACTERS_MAX = 1_048_576
/** Maximum length of each text, and of each list, in a payload that is shortened. */
const TEXT_CHARACTERS_MAX = 2_048
const LIST_ENTRIES_MAX = 20

/** Returns a payload as JSON. If it is too long, long texts are empty and long lists are cut. */
export function payloadText(payload: object): string {
  const text = JSON.stringify(payload)
  return text.length <= PAYLOAD_CHARACTERS_MAX ? text : JSON.stringify(payload, shortened)
}

function shortened(_: string, value: unknown): unknown {
  if (typeof value === 'string') return value.length > TEXT_CHARACTERS_MAX ? '' : value
  return Array.isArray(value) ? value.slice(0, LIST_ENTRIES_MAX) : value
}
