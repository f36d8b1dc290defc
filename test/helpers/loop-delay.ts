/** How late the event loops of a server were, as it says itself. */

import type { Gatehouse } from './gatehouse.js'

/** Samples of the delay of the event loop, and how many of them exceed some bounds. */
export interface LoopDelays {
  readonly samples: number
  /** Samples above that many seconds: a bound of one of the metric's buckets. */
  above(seconds: number): number
}

/** Reads the metric `gatehouse_event_loop_delay_seconds` of all workers. */
export async function loopDelaysOf({ url }: Pick<Gatehouse, 'url'>): Promise<LoopDelays> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const numberOf = (name: string) => {
    const line = text.split('\n').find((one) => one.startsWith(`${name} `))
    if (line === undefined) throw new Error(`there is no ${name} in the metrics`)
    return Number(line.slice(name.length + 1))
  }
  const name = 'gatehouse_event_loop_delay_seconds'
  const samples = numberOf(`${name}_count`)
  return { samples, above: (seconds) => samples - numberOf(`${name}_bucket{le="${seconds}"}`) }
}
