/** Badge of a workflow: the status of its newest run as an SVG image. */

import { createHash } from 'node:crypto'
import type { Reply } from '../../../conf/http.js'
import { conditionStatus, entityTag } from '../../../registry/conditions.js'
import { cut } from '../../../sql/runs/cut.js'
import { findNewestRun } from '../../../sql/runs/newest-run.js'
import type { RunStatus } from '../../../sql/runs/statuses.js'
import { branchReference } from '../../actions/pulls/refresh-pulls.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import { escapeHtml } from '../../rendering/visible-text.js'
import { nameOfFile } from '../../runs/workflow-files.js'
import { definePage } from '../kit/page.js'

const show = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/actions/workflows/{file}/badge.svg',
  access: { kind: 'repository', mode: 'read', unit: 'actions' },
  async handle(context, { request, grant: { repository }, params }) {
    refuseWithoutActions(context, repository)
    const query = new URLSearchParams(request.query)
    const { file = '' } = params
    const run = await findNewestRun(context.db, {
      repositoryId: repository.id,
      workflowFile: file,
      reference: branchReference(query.get('branch') || repository.defaultBranch),
      event: query.get('event') || undefined,
    })
    const name = run?.workflowName ?? nameOfFile(file)
    const svg = badge(name, run?.status)
    const tag = entityTag(createHash('sha256').update(svg).digest('hex').slice(0, 32))
    const headers = [...HEADERS, ['ETag', tag] as const]
    const status = conditionStatus(request.headers, { tag })
    return status === undefined ? { status: 200, headers, body: svg } : { status, headers }
  },
})

const HEADERS: NonNullable<Reply['headers']> = [
  ['Content-Type', 'image/svg+xml; charset=utf-8'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; sandbox"],
  ['Cache-Control', 'private, no-cache'],
  ['Vary', 'Cookie'],
]

/** Colors on which white text can be read. */
const [GREEN, RED, BROWN, GRAY] = ['#1a7f37', '#cf222e', '#9a6700', '#57606a']

const COLORS: Readonly<Record<RunStatus, string>> = {
  blocked: BROWN,
  waiting: BROWN,
  running: BROWN,
  cancelling: BROWN,
  success: GREEN,
  failure: RED,
  cancelled: GRAY,
  skipped: GRAY,
}

const NAME_SHOWN_MAX = 60
const CHARACTER_WIDTH = 7
const PADDING = 6

/** Returns the image; without a status, there is no run. */
function badge(name: string, status: RunStatus | undefined): string {
  const color = status === undefined ? GRAY : COLORS[status]
  // Control characters are not allowed in XML, and others of the category would be invisible.
  const shown = cut(name, NAME_SHOWN_MAX).replace(/\p{C}/gu, '\ufffd')
  const [left, right] = [partOf(shown, 0), partOf(status ?? 'no status', widthOf(shown))]
  const width = left.width + right.width
  const title = escapeHtml(`${shown}: ${status ?? 'no status'}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img">
<title>${title}</title>
<rect width="${width}" height="20" rx="3" fill="#24292f"/>
<rect x="${left.width}" width="${right.width}" height="20" rx="3" fill="${color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
${left.text}
${right.text}
</g>
</svg>
`
}

interface Part {
  readonly width: number
  readonly text: string
}

function partOf(text: string, x: number): Part {
  const width = widthOf(text)
  const length = width - 2 * PADDING
  const attributes = `x="${x + PADDING}" y="14" textLength="${length}"`
  return { width, text: `<text ${attributes}>${escapeHtml(text)}</text>` }
}

/** Returns the width of a text with padding; `textLength` fits the text into it. */
function widthOf(text: string): number {
  return [...text].length * CHARACTER_WIDTH + 2 * PADDING
}

export const BADGE_PAGES = [show]
