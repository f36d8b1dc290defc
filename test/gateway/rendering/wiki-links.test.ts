/** Links between wiki pages in Markdown. */

import t from 'tap'
import { renderMarkdown } from '../../../gateway/rendering/markdown.js'
import { readWikiLink } from '../../../gateway/rendering/wiki-links.js'

const address = 'https://code.example/ada/r'
const from = { address, place: { kind: 'wiki' } } as const

t.test('links of a wiki page point to pages, and pictures to files of the wiki', async (t) => {
  const link = (href: string, text: string) =>
    `<a href="${href}" rel="nofollow noopener">${text}</a>`
  for (const [source, wanted] of [
    ['[[Home Page]]', link(`${address}/wiki/Home-Page`, 'Home Page')],
    ['[[see | C++]]', link(`${address}/wiki/C%2B%2B`, 'see')],
    ['[[out|https://out.example/x]]', link('https://out.example/x', 'out')],
    ['[x](Home-Page)', link(`${address}/wiki/Home-Page`, 'x')],
    ['[x](../../settings)', link(`${address}/wiki/`, 'x')],
    ['[[../../settings]]', link(`${address}/wiki/..%2F..%2Fsettings`, '../../settings')],
    [
      '[[javascript:alert(1)]]',
      link(`${address}/wiki/javascript%3Aalert%281%29`, 'javascript:alert(1)'),
    ],
    ['![p](img/a.png)', `<img alt="p" src="${address}/wiki/raw/img/a.png" />`],
    ['`[[Home]]`', '<code>[[Home]]</code>'],
  ] as const) {
    t.equal(renderMarkdown(source, from).trim(), `<p>${wanted}</p>`, source)
  }
  const place = { kind: 'branch', name: 'main', path: [] } as const
  t.equal(renderMarkdown('[[Home]]', { address, place }).trim(), '<p>[[Home]]</p>', 'only there')
})

t.test('unclosed, empty, nested and long brackets are text', async (t) => {
  for (const text of [
    '[[',
    '[[a',
    '[[]]',
    '[[ ]]',
    '[[a[b]]',
    '[[a\nb]]',
    `[[${'x'.repeat(500)}]]`,
  ]) {
    t.equal(readWikiLink(text, 0), undefined)
  }
  t.equal(readWikiLink('x [[a]]', 0), undefined)
})
