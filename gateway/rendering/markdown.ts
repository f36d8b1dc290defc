/** Untrusted Markdown as sanitized HTML with absolute links; runs in the worker pool. */

import markdownIt from 'markdown-it'
import sanitizeHtml from 'sanitize-html'
import { type PlaceName, placePath } from './place-path.js'
import { type TrustedHtml, trustHtml } from './trusted-html.js'
import { markHidden } from './visible-text.js'
import { readWikiLink } from './wiki-links.js'

export interface MarkdownPlace {
  /** URL of the repository, or its path for a page; empty for a package. */
  readonly address: string
  /** Folder that contains the text, the wiki of the repository, or a package. */
  readonly place: PlaceName | WikiPlace | PackagePlace
  /** True if each line end is a line break, as users expect of text written in a form. */
  readonly hasLines?: boolean
  /** Level of the heading above the text, added to the levels of its own; 0 by default. */
  readonly headingsBelow?: number
}

/** Wiki, in whose pages `[[Title]]` and `[[text|Title]]` are links. */
export interface WikiPlace {
  readonly kind: 'wiki'
}

/** Archive of a package, whose files have no URL: relative links and images become text. */
export interface PackagePlace {
  readonly kind: 'package'
}

/** Maximum depth of quotes and lists; deeper nesting is expensive and not found in real texts. */
const NESTING_MAX = 20

const MARKDOWN = { html: true, linkify: true, maxNesting: NESTING_MAX }
const renderer = markdownIt(MARKDOWN)
const rendererOfLines = markdownIt({ ...MARKDOWN, breaks: true })
const rendererOfWikis = markdownIt(MARKDOWN)
rendererOfWikis.inline.ruler.before('link', 'wiki-link', (state, isSilent) => {
  const link = readWikiLink(state.src, state.pos)
  if (link === undefined) return false
  if (!isSilent) {
    state.push('link_open', 'a', 1).attrs = [['href', link.target]]
    state.push('text', '', 0).content = link.text
    state.push('link_close', 'a', -1)
  }
  state.pos = link.end
  return true
})

/** Elements and attributes that READMEs on GitHub use; no scripts, frames, styles and forms. */
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
 * Renders Markdown as a part of a page. Relative links and images refer to the repository, those
 * that are pointers of Git LFS to its objects. The cost can be quadratic in the length of the text,
 * so only the pool calls this.
 */
export function renderMarkdown(text: string, from: MarkdownPlace): TrustedHtml {
  const resolve = (route: 'src' | 'media', target: string) => resolveTarget(from, route, target)
  const clean = sanitizeHtml(rendererFor(from).render(text), {
    ...OPTIONS,
    transformTags: {
      ...loweredHeadings(from.headingsBelow ?? 0),
      a: (tagName, { href: target = '', ...rest }) => {
        const href = resolve('src', target)
        if (href === undefined) return { tagName: 'span', attribs: {} }
        return { tagName, attribs: { ...rest, href, rel: 'nofollow noopener' } }
      },
      img: (tagName, { src: target = '', alt = '', ...rest }) => {
        const src = resolve('media', target)
        if (src === undefined) return { tagName: 'span', attribs: {}, text: alt }
        return { tagName, attribs: { ...rest, alt, src } }
      },
    },
  })
  return trustHtml(markHidden(clean))
}

function rendererFor({ place, hasLines }: MarkdownPlace) {
  if (place.kind === 'wiki') return rendererOfWikis
  return hasLines ? rendererOfLines : renderer
}

const LEVELS = [1, 2, 3, 4, 5, 6]

/** Maps each heading element to the one that is `levels` lower. */
function loweredHeadings(levels: number): Record<string, string> {
  return Object.fromEntries(
    LEVELS.map((level) => [`h${level}`, `h${Math.min(level + levels, LEVELS.length)}`]),
  )
}

/** Origin to which paths are resolved, which has no meaning. */
const ORIGIN = 'http://relative.invalid'

/** Returns the target below the address; unchanged if it is absolute, undefined if it has none. */
function resolveTarget(
  { address, place }: MarkdownPlace,
  route: string,
  target: string,
): string | undefined {
  if (target === '' || target.startsWith('#') || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) {
    return target
  }
  if (place.kind === 'package') return undefined
  const root = new URL(`${address}/${rootOf(place, route)}/`, ORIGIN).href
  const path = place.kind === 'wiki' ? [] : place.path
  const folder = target.startsWith('/') ? '' : path.map(encodeURIComponent).join('/')
  const base = folder === '' ? root : `${root}${folder}/`
  const relative = target.replace(/^\/+/, '')
  const url = URL.canParse(relative, base) ? new URL(relative, base).href : root
  // A link with ".." segments must not leave the repository.
  const own = url.startsWith(root) ? url : root
  return own.startsWith(`${ORIGIN}/`) ? own.slice(ORIGIN.length) : own
}

function rootOf(place: PlaceName | WikiPlace, route: string): string {
  if (place.kind === 'wiki') return route === 'media' ? 'wiki/raw' : 'wiki'
  return `${route}/${placePath({ ...place, path: [] })}`
}
