/** Delays of a server's event loops, from its metrics. */

import type { Gatehouse } from './gatehouse.js'

/** Samples of the event loop's delay. */
export interface LoopDelays {
  readonly samples: number
  /** Counts the samples above a number of seconds, which must be a bucket bound of the metric. */
  above(seconds: number): number
}

/** Reads the metric `gatehouse_event_loop_delay_seconds` of all workers. */
export async function loopDelaysOf({ url }: Pick<Gatehouse, 'url'>): Promise<LoopDelays> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const numberOf = (name: string) => {
    const line = text.split('\n').find((one) => one.startsWith(`${name} `))
    if (line === undefined) throw new Error(`the metrics have no ${name}`)
    return Number(line.slice(name.length + 1))
  }
  const name = 'gatehouse_event_loop_delay_seconds'
  const samples = numberOf(`${name}_count`)
  return { samples, above: (seconds) => samples - numberOf(`${name}_bucket{le="${seconds}"}`) }
}
