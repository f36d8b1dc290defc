/** Outcomes of requests at a server's pack cache, from its metrics. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packFolder } from '../../gateway/packs/warm.js'
import type { Gatehouse } from './gatehouse.js'

export interface PackCacheCounts {
  readonly hit: number
  readonly join: number
  /** Answers that were made, by git or without it. */
  readonly miss: number
  readonly bypass: number
}

/** Counts the requests so far, of one command or of all. */
export async function countPackCache(
  { url }: Pick<Gatehouse, 'url'>,
  command?: 'fetch' | 'ls-refs',
): Promise<PackCacheCounts> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = { hit: 0, join: 0, miss: 0, bypass: 0 }
  for (const [, labels = '', value] of text.matchAll(
    /^gatehouse_pack_cache_requests_total\{(.*)\} (\d+)$/gm,
  )) {
    const outcome = /outcome="(\w+)"/.exec(labels)?.[1]?.replace('made', 'miss')
    const isCounted = command === undefined || labels.includes(`command="${command}"`)
    if (isCounted) counts[outcome as keyof PackCacheCounts] += Number(value)
  }
  return counts
}

/** Waits until all replies are cached, which is shortly after their last byte was sent. */
export async function untilAllCached(dataDir: string): Promise<void> {
  for (const deadlineMs = Date.now() + 60_000; Date.now() < deadlineMs; await sleep(20)) {
    const names = await readdir(packFolder(join(dataDir, 'cache')), { recursive: true }).catch(
      () => [],
    )
    if (!names.some((name) => name.endsWith('.part'))) return
  }
  throw new Error('a reply was not cached within 60 s')
}

/** Runs a client; returns the outcomes of its fetches. */
export async function countOutcomes(
  gatehouse: Pick<Gatehouse, 'url' | 'dataDir'>,
  runClient: () => Promise<void>,
): Promise<Pick<PackCacheCounts, 'hit' | 'miss' | 'bypass'>> {
  const before = await countPackCache(gatehouse, 'fetch')
  await runClient()
  await untilAllCached(gatehouse.dataDir)
  const { hit, miss, bypass } = await countPackCache(gatehouse, 'fetch')
  return { hit: hit - before.hit, miss: miss - before.miss, bypass: bypass - before.bypass }
}

/** Waits until the server runs no git process, twice in a row. */
export async function untilNoGit({
  url,
  dataDir,
}: Pick<Gatehouse, 'url' | 'dataDir'>): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    await sleep(500)
    const text = await (await fetch(`${url}/metrics`)).text()
    quiet = /^gatehouse_git_queue\{.*running.*\} 0$/m.test(text) ? quiet + 1 : 0
    await untilAllCached(dataDir)
  }
}
