/** Parts of pages whose cost their text chooses: drawn in a pool, and kept by what they are of. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isFailure } from '../../conf/failures.js'
import type { Log } from '../../conf/log.js'
import type { TrustedHtml } from '../rendering/trusted-html.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks, HighlightInput, MarkdownInput } from './tasks.js'

/** A drawn part, or why there is none. */
export type Rendering = TrustedHtml | RenderingFailure

export interface RenderingFailure {
  /** `slow`: too much time or memory. `long`: too long a text. `busy`: too many others. */
  readonly why: 'slow' | 'long' | 'busy'
}

export interface Renderings {
  /** Draws the rows of a table of lines. Never throws. */
  highlight(input: HighlightInput, ownerId: number): Promise<Rendering>
  /** Draws sanitized Markdown. Never throws. */
  markdown(input: MarkdownInput, ownerId: number): Promise<Rendering>
}

/** Whether it was drawn. */
export function isRendered(drawing: Rendering | undefined): drawing is TrustedHtml {
  return typeof drawing === 'string'
}

/** Characters of a text that is drawn. */
const TEXT_CHARACTERS_MAX = 262_144

/** Milliseconds for one text. */
const DEADLINE_MS = 2_000

/** Characters of all drawings that a process keeps; one that failed counts as some. */
const KEPT_CHARACTERS_MAX = 16_777_216
const FAILED_CHARACTERS = 1_000

/** Milliseconds for which a failure is kept: on a busy machine an honest text fails as well. */
const FAILED_KEPT_MS = 600_000

export interface DrawingsOptions {
  readonly pool: Pick<Pool<GatewayTasks>, 'run'>
  readonly log: Log
}

/**
 * Creates the drawings of a process. Each is made once for as long as it is kept, and requests that
 * want the same one at the same time share a task. Failures are kept as well, so that looking again
 * costs nothing.
 */
export function createRenderings({ pool, log }: DrawingsOptions): Renderings {
  const kept = new LRUCache<string, Rendering>({
    maxSize: KEPT_CHARACTERS_MAX,
    sizeCalculation: (drawing) => (isRendered(drawing) ? drawing.length + 1 : FAILED_CHARACTERS),
  })
  const running = new Map<string, Promise<Rendering>>()

  async function draw<N extends 'highlight' | 'markdown'>(
    task: N,
    input: Parameters<GatewayTasks[N]>[0],
    ownerId: number,
  ): Promise<Rendering> {
    if (input.text.length > TEXT_CHARACTERS_MAX) return { why: 'long' }
    const key = keyOf(task, input)
    const known = kept.get(key) ?? running.get(key)
    if (known !== undefined) return known
    const drawn = pool
      .run(task, input, { deadlineMs: DEADLINE_MS, ownerId })
      .catch(reasonOf)
      .then((drawing) => {
        running.delete(key)
        keep(key, drawing)
        return drawing
      })
    running.set(key, drawn)
    return drawn
  }

  function keep(key: string, drawing: Rendering): void {
    if (isRendered(drawing)) kept.set(key, drawing)
    else if (drawing.why !== 'busy') kept.set(key, drawing, { ttl: FAILED_KEPT_MS })
  }

  function reasonOf(error: unknown): RenderingFailure {
    if (error instanceof TaskRefused) return { why: error.reason === 'busy' ? 'busy' : 'slow' }
    if (isFailure(error, 'payload_too_large')) return { why: 'long' }
    log.warn({ error }, 'a text could not be drawn')
    return { why: 'slow' }
  }

  return {
    highlight: (input, ownerId) => draw('highlight', input, ownerId),
    markdown: (input, ownerId) => draw('markdown', input, ownerId),
  }
}

/** A digest of everything that the drawing depends on. */
function keyOf(task: string, { text, ...others }: { readonly text: string }): string {
  const hash = createHash('sha256').update(`${JSON.stringify([task, others])}\n`)
  return hash.update(text).digest('base64')
}
