/** Pages of package settings: forms for rules, protected versions, immutability and quotas. */

import t, { type Test } from 'tap'
import { findCleanupRule } from '../../../../sql/packages/cleanup-rules.js'
import { readOwnerSettings } from '../../../../sql/packages/owner-settings.js'
import { listPackageProtections } from '../../../../sql/packages/protections.js'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { postForm, signIn } from '../../../helpers/web-forms.js'

const PAGE = '/ada/-/packages/settings'
const RULE = `${PAGE}/rules/generic`

/** Starts a gateway on which ada, bob and root are signed in, and ada has two versions. */
async function openPages(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const gateway = await startGatewayWithUsers(t, { environment })
  const cookies = new Map<string, string>()
  for (const name of ['ada', 'bob', 'root']) cookies.set(name, await signIn(gateway, name))
  const headersOf = (name: Name): Readonly<Record<string, string>> => {
    const cookie = cookies.get(name)
    return cookie === undefined ? {} : { cookie }
  }
  for (const version of ['1.0', '2.0']) {
    const path = `/api/packages/ada/generic/tool/${version}/f`
    const authorization = gateway.authorizationOf('ada')
    const put = await gateway.ask({ method: 'PUT', path, authorization, body: Buffer.from('x') })
    t.equal(put.status, 201)
  }
  return {
    ...gateway,
    open: (name: Name, path: string) => gateway.ask({ path, headers: headersOf(name) }),
    post: (name: Name, path: string, fields: Readonly<Record<string, string>> = {}) =>
      postForm(gateway, path, fields, headersOf(name)),
  }
}

t.test('a rule is saved with its preview, refused with its fields, and deleted', async (t) => {
  const { open, post, db, ada } = await openPages(t)
  const place = { ownerId: ada.id, format: 'generic' }
  t.match((await open('ada', '/ada/-/packages')).text, /href="[^"]*\/ada\/-\/packages\/settings"/)
  t.match((await open('ada', PAGE)).text, /generic<\/a>\s*<span class="quiet">no rule/)
  t.notMatch((await open('ada', RULE)).text, /Preview<\/h3>/)
  const fields = {
    keep_count: '1',
    keep_pattern: '9.*',
    remove_days: '0',
    remove_pattern: 'tool/.*',
    match_full_name: 'on',
  }
  const saved = await post('ada', RULE, fields)
  t.match(saved, { status: 303, headers: { location: new RegExp(`${RULE}$`) } })
  const page = await open('ada', RULE)
  t.match(page.text, /A run would remove 1 versions, 1 B in total/)
  t.match(page.text, /tool 1\.0/)
  t.notMatch(page.text, /Run now/, 'the rule is disabled')
  t.equal((await post('ada', `${RULE}/run`)).status, 422)
  const refused = await post('ada', RULE, { ...fields, keep_pattern: '(' })
  t.match(refused, { status: 422, text: /is not a regular expression/ })
  t.match(refused.text, /name="keep_pattern" value="\("/, 'the form is shown again')
  t.match(await findCleanupRule(db, place), { keepPattern: '9.*', matchesFullName: true })
  await post('ada', RULE, { ...fields, enabled: 'on' })
  t.match((await open('ada', RULE)).text, /Run now/)
  t.match((await open('ada', PAGE)).text, /generic<\/a>\s*<span class="quiet">enabled/)
  t.equal((await post('ada', `${RULE}/run`)).status, 303)
  t.equal((await db('jobs').where({ kind: 'clean-packages' })).length, 1)
  t.equal((await post('ada', `${RULE}/delete`)).status, 303)
  t.equal(await findCleanupRule(db, place), undefined)
  t.equal((await open('ada', `${PAGE}/rules/dummy`)).status, 404)
})

t.test('patterns of protected versions are added and removed', async (t) => {
  const { open, post, db, ada } = await openPages(t)
  const add = (pattern: string) => post('ada', `${PAGE}/protections`, { type: 'go', pattern })
  t.equal((await add('tool/.*')).status, 303)
  t.match(await add('(x'), { status: 422, text: /value="\(x"/ })
  t.match((await open('ada', PAGE)).text, /tool\/\.\*/)
  const [protection] = await listPackageProtections(db, { ownerId: ada.id })
  t.match(protection, { format: 'go', pattern: 'tool/.*' })
  await post('ada', `${PAGE}/protections/delete`, { id: String(protection?.id) })
  t.strictSame(await listPackageProtections(db, { ownerId: ada.id }), [])
})

t.test('the owner sees the usage, and only an administrator sets quotas', async (t) => {
  const { open, post, db, ada } = await openPages(t, {
    GATEHOUSE_PACKAGES_OWNER_VERSIONS_MAX: '10',
  })
  const own = (await open('ada', PAGE)).text
  t.match(own, /Versions: 2 of 10/)
  t.match(own, /Size of all files: 2 B/)
  t.notMatch(own, /Save quotas/)
  t.equal((await post('ada', PAGE, { immutable: 'on' })).status, 303)
  const quota = '/admin/packages/ada/quota'
  t.equal((await post('ada', quota, { versions_max: '-1' })).status, 404)
  t.match((await open('root', PAGE)).text, /Save quotas/)
  t.equal(
    (await post('root', quota, { versions_max: '3', size_max: '2048', lfs_size_max: '5' })).status,
    303,
  )
  t.match((await open('ada', PAGE)).text, /Versions: 2 of 3.*Size of all files: 2 B of 2\.0 KiB/s)
  t.match((await open('ada', PAGE)).text, /LFS objects of all repositories: 0 B of 5 B/)
  t.equal((await post('root', quota, { versions_max: '-2' })).status, 422)
  t.equal((await post('root', quota, { versions_max: '1e3' })).status, 422)
  const settings = { isImmutable: true, quota: { versionsMax: 3, bytesMax: 2_048, lfsBytesMax: 5 } }
  t.strictSame(await readOwnerSettings(db, ada.id), settings)
  await post('root', quota)
  t.match(await readOwnerSettings(db, ada.id), { quota: { versionsMax: null, lfsBytesMax: null } })
})

t.test('others neither see nor change the settings', async (t) => {
  const { open, post, db, ada, addOrganization } = await openPages(t)
  for (const path of [PAGE, RULE]) {
    t.equal((await open('bob', path)).status, 403, path)
    t.not((await open('anyone', path)).status, 200, path)
    t.equal((await post('bob', path, { immutable: 'on' })).status, 403, path)
  }
  t.notMatch((await open('bob', '/ada/-/packages')).text, /packages\/settings/)
  t.match(await readOwnerSettings(db, ada.id), { isImmutable: false })
  await addOrganization('hidden', ada, 'private')
  t.equal((await open('bob', '/hidden/-/packages/settings')).status, 404)
  t.equal((await open('ada', '/hidden/-/packages/settings')).status, 200)
  t.match((await open('ada', '/org/hidden/settings')).text, /hidden\/-\/packages\/settings/)
})

t.test('the keys that sign the indexes are listed with links to the public keys', async (t) => {
  const { open, ask } = await openPages(t)
  t.match((await open('ada', PAGE)).text, 'There are no keys yet.')
  t.equal((await ask({ path: '/api/packages/ada/debian/repository.key' })).status, 200)
  const { text } = await open('ada', PAGE)
  t.match(text, /href="[^"]*\/api\/packages\/ada\/debian\/repository\.key">debian<\/a>/)
  t.notMatch(text, 'alpine/key')
})
