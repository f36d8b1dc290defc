/** How often the pack cache of a server had a part in an answer, as its metrics tell. */

import type { Gatehouse } from './gatehouse.js'

export interface PackCacheCounts {
  readonly hit: number
  readonly join: number
  readonly miss: number
  readonly bypass: number
}

/** All requests so far of one command, or of every one. */
export async function countPackCache(
  { url }: Pick<Gatehouse, 'url'>,
  command?: 'fetch' | 'ls-refs',
): Promise<PackCacheCounts> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = { hit: 0, join: 0, miss: 0, bypass: 0 }
  for (const [, labels = '', value] of text.matchAll(
    /^gatehouse_pack_cache_requests_total\{(.*)\} (\d+)$/gm,
  )) {
    const outcome = /outcome="(\w+)"/.exec(labels)?.[1] as keyof PackCacheCounts
    const isAsked = command === undefined || labels.includes(`command="${command}"`)
    if (isAsked) counts[outcome] += Number(value)
  }
  return counts
}
