/** Patches over the API: git writes them, and the commit has the files that git would have. */

import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'
import { cloneInto } from '../../../helpers/working-copy.js'

const gateway = await startGatewayWithUsers(t)
const { as } = gateway
await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
const path = await gateway.pathOf('ada', 'r')
const { path: copy } = await cloneInto(t, path)
const inside = (...args: readonly string[]) => git(args, { cwd: path })
const here = (...args: readonly string[]) => git(args, { cwd: copy })
const apply = (body: object, name: 'ada' | 'bob' = 'ada') =>
  as(name, 'POST', '/repos/ada/r/diffpatch', body)

/** Returns the patch of the changes in the working copy, which keeps them in its index. */
async function patchOf(): Promise<string> {
  await here('add', '-A')
  return `${await here('diff', '--cached', '--binary', 'origin/main')}\n`
}

t.test(
  'a patch of git changes contents, modes, names and binary files in one commit',
  async (t) => {
    await mkdir(join(copy, 'dir'))
    await writeFile(join(copy, 'dir', 'run.sh'), 'echo\n')
    await chmod(join(copy, 'dir', 'run.sh'), 0o755)
    await writeFile(join(copy, 'data'), Buffer.from([0, 1, 2, 255]))
    await writeFile(join(copy, 'text'), 'one\ntwo\nthree\n')
    await symlink('text', join(copy, 'link'))
    const content = await patchOf()
    const made = await apply({ content, message: 'Patched', signoff: true })
    t.match(made, { status: 201, json: { content: null, commit: { message: /^Patched/ } } })
    t.equal(await inside('rev-parse', 'main^{tree}'), await here('write-tree'))
    t.match(await inside('log', '-1', '--format=%an %b', 'main'), /^ada Signed-off-by: ada </)

    await here('fetch', '-q')
    await rename(join(copy, 'text'), join(copy, 'dir', 'moved'))
    await rm(join(copy, 'data'))
    await chmod(join(copy, 'dir', 'run.sh'), 0o644)
    const next = await apply({ content: await patchOf(), new_branch: 'topic' })
    t.match(next, { status: 201, json: { commit: { message: /^apply-patch/ } } })
    t.equal(await inside('rev-parse', 'topic^{tree}'), await here('write-tree'))
    t.not(await inside('rev-parse', 'topic'), await inside('rev-parse', 'main'))
  },
)

t.test('a patch that does not apply is refused, and nothing is written', async (t) => {
  const tip = await inside('rev-parse', 'main')
  const added = (name: string, mode = '100644') =>
    `diff --git a/${name} b/${name}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${name}\n` +
    '@@ -0,0 +1 @@\n+x\n'
  const refused: readonly (readonly [string, RegExp])[] = [
    ['no patch', /does not apply: No valid patches/],
    ['', /does not apply/],
    ['--- a/text\n+++ b/text\n@@ -1 +1 @@\n-else\n+other\n', /does not apply: .*text/],
    [added('../out'), /does not apply: invalid path/],
    [added('.git/hooks/post-update'), /does not apply: invalid path/],
    [added('link/x'), /does not apply|exists where/],
    [added('text'), /does not apply: .*with conflicts/],
    [added('module', '160000').replace('+x', `+Subproject commit ${tip}`), /submodule "module"/],
    [added('.gitmodules').replace('+x', '+[submodule "a"]url=-u'), /./],
  ]
  for (const [content, message] of refused) {
    t.match(await apply({ content }), { status: 422, json: { message } }, content.slice(0, 60))
  }
  const many = Array.from({ length: 1_001 }, (_, index) => added(`f${index}`)).join('')
  t.match(await apply({ content: many }), { status: 413, json: { message: /1000 files/ } })
  t.equal((await apply({ content: added('z'), branch: 'none' })).status, 404)
  t.equal((await apply({ content: added('z'), new_branch: 'topic' })).status, 422)
  t.equal((await apply({ content: added('z') }, 'bob')).status, 403)
  t.equal(await inside('rev-parse', 'main'), tip)
})

t.test('a patch whose binary part is far larger than the patch is refused', async (t) => {
  await here('fetch', '-q')
  await here('reset', '-q', '--hard', 'origin/main')
  await writeFile(join(copy, 'zeros'), Buffer.alloc(17_000_000))
  // The helper trims the empty line that ends a binary patch.
  const content = `${await patchOf()}\n`
  t.ok(content.length < 100_000)
  t.match(await apply({ content }), { status: 413, json: { message: /16777216 bytes/ } })
})
