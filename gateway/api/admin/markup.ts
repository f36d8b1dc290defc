/** Markdown as HTML over the API, rendered as on the pages. */

import { type Static, Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import type { User } from '../../../sql/accounts/users.js'
import { readBody } from '../../http/incoming-body.js'
import { FILE } from '../../objects/schema.js'
import { isRendered, type RenderingFailure } from '../../pool/renderings.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'

/** Maximum size of a text; the renderer refuses longer ones too, counted in characters. */
const TEXT_BYTES_MAX = 1_048_576

const FIELDS = {
  Text: Type.Optional(Type.String({ description: 'text to render' })),
  Mode: Type.Optional(Type.String({ description: 'markdown, comment, gfm, wiki or file' })),
  Context: Type.Optional(
    Type.String({ description: 'URL or path of the repository that relative links refer to' }),
  ),
  Wiki: Type.Optional(Type.Boolean({ description: 'ignored' })),
}

const MARKDOWN_OPTION = Type.Object(FIELDS, { $id: 'MarkdownOption' })

const MARKUP_OPTION = Type.Object(
  {
    ...FIELDS,
    FilePath: Type.Optional(Type.String({ description: 'name of the file, for the mode file' })),
  },
  { $id: 'MarkupOption' },
)

const COMMON = {
  method: 'POST',
  tags: ['miscellaneous'],
  access: { kind: 'signed-in' },
  scopes: ['write:misc'],
  params: {},
  query: NO_QUERY,
  success: { status: 200, schema: FILE },
  failures: [413, 422],
} as const

const markdown = defineOperation({
  ...COMMON,
  id: 'renderMarkdown',
  path: '/markdown',
  summary: 'Render a markdown document as HTML',
  body: MARKDOWN_OPTION,
  handle: (context, { grant, body }) => htmlOf(context, grant.user, body),
})

const raw = defineOperation({
  ...COMMON,
  id: 'renderMarkdownRaw',
  path: '/markdown/raw',
  summary: 'Render the body, a markdown text, as HTML',
  async handle(context, { grant, request }) {
    const declared = Number(request.headers.get('content-length') ?? 0)
    const bytes = await readBody(request.body, TEXT_BYTES_MAX, declared)
    return await htmlOf(context, grant.user, { Text: Buffer.from(bytes).toString('utf8') })
  },
})

const markup = defineOperation({
  ...COMMON,
  id: 'renderMarkup',
  path: '/markup',
  summary: 'Render a markup document as HTML',
  body: MARKUP_OPTION,
  async handle(context, { grant, body }) {
    if (body.Mode === 'file' && !/\.(?:md|markdown)$/i.test(body.FilePath ?? '')) {
      throw new Failure('invalid', 'Only Markdown is rendered: FilePath must end with .md.')
    }
    return await htmlOf(context, grant.user, body)
  },
})

async function htmlOf(
  context: Context,
  { id }: User,
  { Text = '', Mode, Context: at = '' }: Static<typeof MARKDOWN_OPTION>,
): Promise<Reply> {
  const place = { kind: 'branch', name: 'main', path: [] } as const
  const hasLines = Mode === 'comment' || Mode === 'gfm'
  const from = { address: addressOf(context, at), place, hasLines }
  const rendering = await context.renderings.markdown({ text: Text, from }, id)
  if (!isRendered(rendering)) throw refusalOf(rendering)
  const headers = [['Content-Type', 'text/html; charset=utf-8']] as const
  return { status: 200, headers, body: rendering }
}

/** Returns the URL that links are relative to, which is always one of this server. */
function addressOf({ settings }: Context, text: string): string {
  const { baseUrl } = settings.http
  const url = URL.parse(text, `${baseUrl}/`)
  const isOwn = url?.href.startsWith(`${baseUrl}/`) === true
  return isOwn ? `${url.origin}${url.pathname}`.replace(/\/+$/, '') : baseUrl
}

function refusalOf({ why }: RenderingFailure): Failure {
  if (why === 'long')
    return new Failure('payload_too_large', 'The text is too long to be rendered.')
  if (why === 'slow') return new Failure('invalid', 'The text is too expensive to be rendered.')
  return new Failure('unavailable', 'The renderer is busy. Try again later.')
}

export const MARKUP_OPERATIONS: readonly AnyOperation[] = [markdown, raw, markup]
