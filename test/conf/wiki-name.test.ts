/** Names of wiki pages have the segments and files that Gitea gives them. */

import t from 'tap'
import { parseWikiTitle, wikiFilesOf, wikiNameOf, wikiNameOfFile } from '../../conf/wiki-name.js'

/** Title, path segment and file, as in Gitea's description of its wikis. */
const NAMES = [
  ['Home', 'Home', 'Home.md'],
  ['Home Page', 'Home-Page', 'Home-Page.md'],
  ['100% Free', '100%25-Free', '100%25-Free.md'],
  ['2000-01-02 meeting', '2000-01-02+meeting.-', '2000-01-02 meeting.-.md'],
  ['a/b', 'a%2Fb', 'a%2Fb.md'],
  ['C++', 'C%2B%2B', 'C%2B%2B.md'],
  ["Don't (now)!*", 'Don%27t-%28now%29%21%2A', 'Don%27t-%28now%29%21%2A.md'],
  ['Über', '%C3%9Cber', '%C3%9Cber.md'],
  ['notes.md', 'notes.md.-', 'notes.md.-.md'],
  ['../x', '..%2Fx', '..%2Fx.md'],
  ['.git', '.git', '.git.md'],
  ['_Sidebar', '_Sidebar', '_Sidebar.md'],
] as const

t.test('a title gives the segment and the file, which both give the title', async (t) => {
  for (const [title, segment, file] of NAMES) {
    const name = { title, segment, file }
    t.strictSame(parseWikiTitle(` ${title} `), name)
    t.strictSame(wikiNameOf(segment), name)
    t.strictSame(wikiNameOfFile(file), name)
  }
})

t.test('a segment that ends in .md is the path of a file', async (t) => {
  t.strictSame(wikiNameOf('docs%2FA-b.md'), {
    title: 'docs/A b',
    segment: 'docs%2FA-b.md',
    file: 'docs/A-b.md',
  })
  t.match(wikiNameOf('bad%zz.md'), { file: 'bad%zz.md' })
})

t.test('a file that authors named by the title is found under the same segment', async (t) => {
  t.match(wikiNameOfFile('Home Page.md'), { title: 'Home Page', segment: 'Home-Page' })
  t.strictSame(wikiFilesOf(wikiNameOf('Home-Page')), ['Home-Page.md', 'Home Page.md'])
  t.strictSame(wikiFilesOf(wikiNameOf('docs%2FPage')), ['docs%2FPage.md', 'docs/Page.md'])
  t.equal(wikiNameOfFile('picture.png'), undefined)
  t.equal(wikiNameOfFile('.md'), undefined)
})

t.test(
  'a title that is blank, reserved, too long or has control characters is refused',
  async (t) => {
    const refused = (title: string, message: RegExp) =>
      t.throws(() => parseWikiTitle(title), { message }, `${[...title].length} characters`)
    for (const title of [
      '',
      ' ',
      '.',
      '..',
      'a\nb',
      'a\u0000',
      '\u001b[2J',
      'a\u2028b',
      '\ud800',
    ]) {
      refused(title, /^A wiki title is neither blank/)
    }
    for (const title of ['_pages', '_new', '_edit', 'raw']) {
      refused(title, new RegExp(`^wiki title is reserved: ${title}$`))
    }
    t.equal(parseWikiTitle('x'.repeat(252)).title.length, 252)
    refused('x'.repeat(253), /has 256 bytes, of at most 255/)
    refused('ä'.repeat(60), /has 363 bytes/)
  },
)
