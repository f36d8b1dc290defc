/** Markdown of strangers as HTML that does nothing, sanitized, with whole links: runs in a pool. */

import markdownIt from 'markdown-it'
import sanitizeHtml from 'sanitize-html'
import { type PlaceName, placePath } from '../web/kit/links.js'
import { type TrustedHtml, trustHtml } from './trusted-html.js'
import { markHidden } from './visible-text.js'

export interface MarkdownPlace {
  /** Of the repository. */
  readonly address: string
  /** The folder that the text stands in. */
  readonly place: PlaceName
  /** Whether each line of the text is one, as people expect it of what they write in a form. */
  readonly hasLines?: boolean
  /** The level of the heading above the text, below which its own begin; by default none. */
  readonly headingsBelow?: number
}

/** Deeper quotes and lists are nobody's text, and cost the more. */
const NESTING_MAX = 20

const MARKDOWN = { html: true, linkify: true, maxNesting: NESTING_MAX }
const renderer = markdownIt(MARKDOWN)
const rendererOfLines = markdownIt({ ...MARKDOWN, breaks: true })

/** What GitHub's own READMEs use, and nothing that loads, runs or asks. */
const OPTIONS: sanitizeHtml.IOptions = {
  allowedTags: [
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'p',
    'a',
    'img',
    'ul',
    'ol',
    'li',
    'blockquote',
    'hr',
    'br',
    'pre',
    'code',
    'em',
    'strong',
    'b',
    'i',
    's',
    'del',
    'ins',
    'sub',
    'sup',
    'kbd',
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
    'details',
    'summary',
    'div',
    'span',
    'dl',
    'dt',
    'dd',
  ],
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt', 'title', 'width', 'height'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  nestingLimit: 100,
}

/**
 * The text as a part of a page; links and images that say no host are those of the repository. Its
 * cost may be quadratic, so only a pool calls this.
 */
export function renderMarkdown(text: string, from: MarkdownPlace): TrustedHtml {
  const resolve = (room: 'src' | 'raw', target: string) => resolveTarget(from, room, target)
  const clean = sanitizeHtml((from.hasLines ? rendererOfLines : renderer).render(text), {
    ...OPTIONS,
    transformTags: {
      ...loweredHeadings(from.headingsBelow ?? 0),
      a: (tagName, { href = '', ...rest }) => ({
        tagName,
        attribs: { ...rest, href: resolve('src', href), rel: 'nofollow noopener' },
      }),
      img: (tagName, { src = '', alt = '', ...rest }) => ({
        tagName,
        attribs: { ...rest, alt, src: resolve('raw', src) },
      }),
    },
  })
  return trustHtml(markHidden(clean))
}

const LEVELS = [1, 2, 3, 4, 5, 6]

/** Each heading of the text under its name further down. */
function loweredHeadings(levels: number): Record<string, string> {
  return Object.fromEntries(
    LEVELS.map((level) => [`h${level}`, `h${Math.min(level + levels, LEVELS.length)}`]),
  )
}

function resolveTarget({ address, place }: MarkdownPlace, room: string, target: string): string {
  if (target === '' || target.startsWith('#') || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) {
    return target
  }
  const root = `${address}/${room}/${placePath({ ...place, path: [] })}/`
  const folder = target.startsWith('/') ? '' : place.path.map(encodeURIComponent).join('/')
  const base = folder === '' ? root : `${root}${folder}/`
  const relative = target.replace(/^\/+/, '')
  const url = URL.canParse(relative, base) ? new URL(relative, base).href : root
  // A README may not lead out of its own repository by dots.
  return url.startsWith(root) ? url : root
}
