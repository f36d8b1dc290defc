/** Places of actions in `uses`. */

import t from 'tap'
import { parseActionPlace } from '../../../gateway/own-runner/action-place.js'

const SERVERS = ['http://127.0.0.1:3000/code/', 'https://code.example.org']

t.test('a place is a folder of the workspace or of a repository of the server', async (t) => {
  const site = (repository: string, path: string, ref: string) =>
    ({ kind: 'site', repository, path, ref }) as const
  for (const [uses, place] of [
    ['./', { kind: 'local', path: './' }],
    ['./a/b', { kind: 'local', path: './a/b' }],
    ['ada/tool@v1', site('ada/tool', '', 'v1')],
    ['ada/.github/a/b@feature/x', site('ada/.github', 'a/b', 'feature/x')],
    ['https://code.example.org/ada/tool@v1', site('ada/tool', '', 'v1')],
    ['https://CODE.example.org:443/ada/tool/sub@v1', site('ada/tool', 'sub', 'v1')],
    ['http://127.0.0.1:3000/code/ada/tool@v1', site('ada/tool', '', 'v1')],
  ] as const) {
    t.strictSame(parseActionPlace(uses, SERVERS), place, uses)
  }
})

t.test('other servers, containers and malformed names are refused', async (t) => {
  const elsewhere = /is on another server; mirror its repository to this server/
  const malformed = /is neither OWNER\/NAME@REF, OWNER\/NAME\/PATH@REF nor .\/PATH/
  for (const [uses, message] of [
    ['https://github.com/ada/tool@v1', elsewhere],
    ['http://code.example.org/ada/tool@v1', elsewhere],
    ['https://code.example.org.evil.example/ada/tool@v1', elsewhere],
    ['https://x@code.example.org/ada/tool@v1', elsewhere],
    ['http://127.0.0.1:3000/ada/tool@v1', elsewhere],
    ['http://127.0.0.1:3000/code/../ada/tool@v1', elsewhere],
    ['docker://debian', /only jobs have containers/],
    ['', malformed],
    ['ada/tool', malformed],
    ['tool@v1', malformed],
    ['../tool@v1', malformed],
    ['ada/..@v1', malformed],
    ['ada/tool@--upload-pack=x', malformed],
    ['ada/tool@a:refs/heads/b', malformed],
    ['ada/to ol@v1', malformed],
    ['ssh://code.example.org/ada/tool@v1', malformed],
  ] as const) {
    t.throws(() => parseActionPlace(uses, SERVERS), { message }, uses)
  }
})
