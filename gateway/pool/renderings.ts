/** Rendering of user text for pages (highlighting, Markdown) in the worker pool, with a cache. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isFailure } from '../../conf/failures.js'
import type { Log } from '../../conf/log.js'
import type { TrustedHtml } from '../rendering/trusted-html.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks, HighlightInput, MarkdownInput } from './tasks.js'

/** Rendered HTML, or the reason why there is none. */
export type Rendering = TrustedHtml | RenderingFailure

export interface RenderingFailure {
  /** `slow`: over the time or memory limit. `long`: text too long. `busy`: the pool is full. */
  readonly why: 'slow' | 'long' | 'busy'
}

export interface Renderings {
  /** Renders a file as the rows of a table of highlighted lines. Never throws. */
  highlight(input: HighlightInput, ownerId: number): Promise<Rendering>
  /** Renders Markdown as sanitized HTML. Never throws. */
  markdown(input: MarkdownInput, ownerId: number): Promise<Rendering>
}

/** True if the text was rendered. */
export function isRendered(drawing: Rendering | undefined): drawing is TrustedHtml {
  return typeof drawing === 'string'
}

/** Maximum characters of a text that is rendered. */
const TEXT_CHARACTERS_MAX = 262_144

/** Time limit for one text. */
const DEADLINE_MS = 2_000

/** Maximum size of the cache of a process, in characters; a failure counts FAILED_CHARACTERS. */
const KEPT_CHARACTERS_MAX = 16_777_216
const FAILED_CHARACTERS = 1_000

/** Time that a failure is cached. It expires because a busy machine may fail on any text. */
const FAILED_KEPT_MS = 600_000

export interface DrawingsOptions {
  readonly pool: Pick<Pool<GatewayTasks>, 'run'>
  readonly log: Log
}

/**
 * Creates the renderer of a process. Results are cached, and concurrent requests for the same text
 * share one task. Failures are cached too, so that repeated requests for an expensive text cost
 * nothing.
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
    log.warn({ error }, 'text rendering failed')
    return { why: 'slow' }
  }

  return {
    highlight: (input, ownerId) => draw('highlight', input, ownerId),
    markdown: (input, ownerId) => draw('markdown', input, ownerId),
  }
}

/** Returns a digest of everything that the result depends on. */
function keyOf(task: string, { text, ...others }: { readonly text: string }): string {
  const hash = createHash('sha256').update(`${JSON.stringify([task, others])}\n`)
  return hash.update(text).digest('base64')
}
