/** The rules of the house that no other tool keeps, each tried on a file that breaks it as well. */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

const ROOT = new URL('../../', import.meta.url).pathname

interface ProjectFile {
  readonly path: string
  readonly text: string
}

interface Rule {
  readonly name: string
  /** What to do about a finding. */
  readonly advice: string
  readonly find: (files: readonly ProjectFile[]) => readonly string[]
  /** Files each of which breaks the rule on its own. */
  readonly breaks: readonly ProjectFile[]
}

/** What git keeps or would keep: neither dependencies nor what builds and runs leave. */
function projectFiles(): readonly ProjectFile[] {
  const list = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const paths = [...new Set(list.split('\0'))].filter((path) => path && existsSync(ROOT + path))
  return paths.map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') }))
}

const isSource = ({ path }: ProjectFile) => /\.tsx?$/.test(path)
const isTest = ({ path }: ProjectFile) => path.startsWith('test/')
const isLock = ({ path }: ProjectFile) => path === 'package-lock.json'
const isCode = (file: ProjectFile) => isSource(file) || /^(?:scripts|\.ci)\//.test(file.path)

/** `path:line` of every line that matches. */
function linesWith(files: readonly ProjectFile[], pattern: RegExp): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}`] : [])),
  )
}

/** A doc comment at the beginning of a file, whose text ends with a full stop. */
const OPENING = /^\/\*\*\s(?:(?!\*\/).)*\.\s+\*\/\n/s

const opening: Rule = {
  name: 'a file begins with a doc comment that says what it is',
  advice: 'Begin with a doc comment of one or two sentences that ends with a full stop.',
  find: (files) =>
    files
      .filter(isSource)
      .filter(({ text }) => !OPENING.test(text))
      .map(({ path }) => path),
  breaks: [
    { path: 'cgi/process/run.ts', text: 'export {}\n' },
    { path: 'cgi/process/run.ts', text: "import 'node:fs'\n/** Late. */\n" },
    { path: 'cgi/process/run.ts', text: '/** No stop */\n/** Another. */\n' },
    { path: 'cgi/process/run.ts', text: '// Runs programs.\n' },
  ],
}

const LINES_MAX = 400
const LINES_OF_TEST_MAX = 600

const length: Rule = {
  name: `a file has at most ${LINES_MAX} lines, a test ${LINES_OF_TEST_MAX}`,
  advice: 'Split it along its own seam: one reason to open a file.',
  find: (files) =>
    files
      .filter(isCode)
      .filter((file) => {
        const lines = file.text.split('\n').length - 1
        return lines > (isTest(file) ? LINES_OF_TEST_MAX : LINES_MAX)
      })
      .map(({ path }) => path),
  breaks: [
    { path: 'sql/accounts/users.ts', text: '\n'.repeat(401) },
    { path: 'test/sql/accounts/users.test.ts', text: '\n'.repeat(601) },
  ],
}

const columns: Rule = {
  name: 'a comment has at most 100 columns, as has the code that the formatter breaks',
  advice: 'Break the line, or say it in fewer words.',
  find: (files) => linesWith(files.filter(isCode), /^(?=\s*(?:\/\*|\*|\/\/|#)).{101}/u),
  breaks: [
    { path: 'sql/accounts/users.ts', text: `/** ${'x'.repeat(100)} */` },
    { path: 'scripts/start', text: `# ${'x'.repeat(100)}` },
  ],
}

/** Files without a test of their own name, or folders of them, and what proves them instead. */
const TESTED_ELSEWHERE: Readonly<Record<string, string>> = {
  'gateway/actions/accounts/grant-code.ts':
    'by web/accounts/authorize-page.test.ts and threats/oauth.test.ts',
  'gateway/actions/accounts/oauth-application.ts':
    'by api/accounts/oauth-applications.test.ts, whose inputs it stores',
  'gateway/auth/oauth-client.ts': 'by oauth/access-token.test.ts, where clients show who they are',
  'gateway/auth/oauth-failure.ts': 'by oauth/access-token.test.ts, word by word',
  'gateway/auth/oauth-secret.ts':
    'by oauth/access-token.test.ts, which tries each in the place of others',
  'gateway/oauth/': 'by oauth/access-token.test.ts and threats/oauth.test.ts',
  'sql/accounts/owners.ts': 'by users.test.ts and organizations.test.ts, on both databases',
  'sql/accounts/oauth-applications.ts': 'by oauth.test.ts, on both databases',
  'sql/accounts/oauth-grants.ts': 'by oauth.test.ts, on both databases',
  'sql/accounts/oauth-keys.ts': 'by oauth/id-token.test.ts, where it is made twice at once',
  'sql/accounts/oauth-tokens.ts': 'by oauth.test.ts, on both databases',
  'cgi/repository/durable.ts':
    'what it flushes shows after a loss of power only; its callers have tests',
  'cgi/maintenance/journal.ts': 'by recovery.test.ts, which reads what it wrote',
  'cgi/maintenance/stale-files.ts': 'by recovery.test.ts, which finds what it lists',
  'cgi/process/spawn-group.ts': 'by run.test.ts, which starts processes in both ways',
  'cgi/process/process-group.ts': 'by run.test.ts, which watches groups end',
  'cgi/process/process-table.ts': 'by run.test.ts and recovery.test.ts',
  'cgi/repository/template.ts': 'by api/repositories/generate.test.ts, which looks at what it made',
  'cgi/refs/update-list.ts': 'by complete-updates.test.ts, whose lists git writes and it reads',
  'cgi/transfer/upload.ts': 'by backend.test.ts and upload-pack.test.ts, whose bodies break off',
  'cgi/repository/walk.ts': 'by repository.test.ts and recovery.test.ts',
  'conf/schemas.ts': 'by settings.test.ts and load.test.ts',
  'conf/database-location.ts': 'by settings.test.ts, which reads both kinds',
  'gateway/actions/repositories/clone-urls.ts':
    'by api/repositories/repositories.test.ts, which reads both addresses',
  'gateway/actions/repositories/delete-repository.ts':
    'by api/repositories/repositories.test.ts and house-events.test.ts',
  'gateway/actions/repositories/edit-repository.ts':
    'by api/repositories/repositories.test.ts, on both databases',
  'gateway/actions/repositories/transfer-repository.ts':
    'by api/repositories/forks.test.ts, on both databases',
  'gateway/actions/repositories/change-collaborators.ts':
    'by api/repositories/collaborators.test.ts, on both databases',
  'gateway/actions/accounts/refuse-longer.ts':
    'by web/repositories/repository-settings.test.ts, whose texts are too long',
  'gateway/webhooks/test-webhook.ts':
    'by api/webhooks/repository-hooks.test.ts, which tries one',
  'gateway/actions/webhooks/webhook-input.ts':
    'by api/webhooks/hook-object.test.ts and repository-hooks.test.ts',
  'gateway/actions/accounts/issue-token.ts':
    'by api/accounts/tokens.test.ts, whose tokens it makes',
  'gateway/auth/cookies.ts':
    'by session.test.ts and web/accounts/two-factor.test.ts, which read them',
  'gateway/auth/ticket.ts': 'by web/accounts/two-factor.test.ts, which signs in with them',
  'gateway/actions/accounts/change-password.ts':
    'by web/accounts/account.test.ts, whose passwords it changes',
  'gateway/actions/accounts/token-limits.ts':
    'by api/accounts/tokens.test.ts and web/accounts/account.test.ts',
  'gateway/actions/organizations/open-organization.ts':
    'by api/organizations/organizations.test.ts',
  'gateway/actions/organizations/change-team.ts':
    'by api/organizations/teams.test.ts and web/organizations/organizations.test.ts',
  'gateway/actions/organizations/team-contents.ts':
    'by api/organizations/team-contents.test.ts, on both databases',
  'gateway/actions/accounts/owner-details.ts':
    'by web/accounts/account.test.ts, whose forms it reads',
  'gateway/actions/code/open-push.ts':
    'by journeys/git-push.test.ts and threats/push-crash.test.ts',
  'gateway/actions/accounts/conflict-as-invalid.ts':
    'by api/organizations/teams, organizations and admin-users, for taken names',
  'gateway/actions/accounts/read-key.ts': 'by api/accounts/key-object.test.ts',
  'gateway/actions/accounts/manage-users.ts':
    'by api/admin/admin-users.test.ts and web/admin/admin.test.ts',
  'gateway/actions/accounts/make-account.ts':
    'by web/accounts/setup.test.ts and api/admin/admin-users.test.ts',
  'gateway/auth/set-up.ts':
    'by web/accounts/setup.test.ts, from the machine itself and from elsewhere',
  'gateway/auth/visible-owner.ts': 'by web/pages.test.ts and api/accounts/users.test.ts',
  'gateway/web/':
    'by web/pages.test.ts, journeys/newcomer.test.ts and threats/hostile-pages.test.ts',
  'gateway/actions/issues/add-comment.ts': 'by api/issues/comments.test.ts',
  'gateway/actions/issues/change-issue.ts': 'by api/issues/issues.test.ts',
  'gateway/actions/issues/open-issue.ts': 'by api/issues/issues.test.ts',
  'gateway/actions/releases/visible-releases.ts':
    'by api/releases/releases.test.ts and web/releases/releases.test.ts',
  'gateway/actions/pulls/change-pull-state.ts':
    'by api/pulls/pull-requests.test.ts, which closes and opens again',
  'gateway/api/issues/issue-params.ts': 'words, which swagger.test.ts compares',
  'gateway/actions/code/change-files.ts':
    'by api/code/file-changes.test.ts, whose requests it does',
  'gateway/actions/repositories/generate-repository.ts':
    'by api/repositories/generate.test.ts, on both databases',
  'gateway/actions/pulls/review-events.ts': 'by notify-users.test.ts, which reviews a pull request',
  'gateway/actions/code/journal-push.ts': 'by journeys/git-push.test.ts and ssh-push.test.ts',
  'gateway/webhooks/push-payload.ts': 'by webhooks/ref-events.test.ts',
  'gateway/webhooks/subscriber.ts': 'by the tests of webhooks/',
  'gateway/subscribe.ts': 'by every test that starts a gateway',
  'gateway/request/': 'shapes, and by the tests of webhooks/ and of the router',
  'gateway/actions/releases/release-changed.ts': 'by webhooks/release-events.test.ts',
  'gateway/actions/packages/package-events.ts': 'by webhooks/package-events.test.ts',
  'gateway/actions/code/push-effects.ts': 'by journeys/git-push.test.ts',
  'gateway/rendering/': 'by web/pages.test.ts',
  'gateway/api/webhooks/hook-operations.ts':
    'by repository-hooks.test.ts, at each place of webhooks',
  'gateway/api/issues/label-operations.ts': 'by labels.test.ts and organization-labels.test.ts',
  'gateway/api/webhooks/organization-hooks.ts':
    'by repository-hooks.test.ts, at each place of webhooks',
  'gateway/api/webhooks/user-hooks.ts': 'by repository-hooks.test.ts, at each place of webhooks',
  'gateway/api/accounts/token-limits.ts': 'by tokens.test.ts, whose inputs it reads',
  'gateway/auth/authorize-packages.ts': 'by authorize.test.ts and limits.test.ts, through the gate',
  'gateway/packages/narrow-package-store.ts': 'by auth/limits.test.ts, through a registry',
  'sql/accounts/token-limits.ts': 'by tokens.test.ts, on both databases',
  'gateway/packages/watched-package-store.ts':
    'by actions/packages/package-events.test.ts, through a registry',
  'gateway/actions/code/commit-checks.ts':
    'by scheduled-merges.test.ts, whose merges wait for them',
  'gateway/actions/pulls/find-head.ts': 'by pull-forks.test.ts, which names all kinds of heads',
  'gateway/actions/pulls/follow-heads.ts': 'by pull-forks.test.ts, which pushes and does not read',
  'gateway/actions/pulls/foreign-heads.ts': 'by pull-forks.test.ts, on both databases',
  'gateway/actions/pulls/merge-scheduled.ts': 'by scheduled-merges.test.ts, on both databases',
  'gateway/actions/pulls/writable-head.ts': 'by pull-forks.test.ts, which merges and updates',
  'gateway/jobs/merge-pull.ts': 'by scheduled-merges.test.ts, which waits for the job',
  'gateway/actions/repositories/fork-repository.ts':
    'by api/repositories/forks.test.ts, on both databases',
  'gateway/auth/authorize-accounts.ts':
    'by authorize.test.ts and the credentials matrix, which it judges',
  'gateway/auth/authorize-repository.ts':
    'by authorize.test.ts and limits.test.ts, through the gate',
  'gateway/auth/refusals.ts': 'by authorize.test.ts, whose refusals it words',
  'gateway/objects/api-prefix.ts': 'a constant',
  'gateway/objects/organizations/organization-object.ts':
    'by organizations.test.ts, on both databases',
  'gateway/objects/organizations/team-object.ts': 'by teams.test.ts, on both databases',
  'gateway/actions/accounts/delete-account.ts':
    'by api/admin/admin-users.test.ts, on both databases',
  'gateway/actions/code/branch-rules.ts': 'by branch-judge.test.ts, in tables',
  'gateway/actions/code/push-decision-requests.ts':
    'by journeys/protected-branches.test.ts and ssh-push.test.ts',
  'gateway/actions/pulls/stale-approvals.ts':
    'by merge-rules.test.ts, which pushes after approvals',
  'gateway/api/code/branch-protection-lists.ts': 'by branch-protections.test.ts, person and team',
  'gateway/objects/code/branch-protection-object.ts':
    'by branch-protections.test.ts and swagger.test.ts',
  'gateway/actions/code/compare-revisions.ts': 'by api/code/compare.test.ts, here and across forks',
  'gateway/actions/pulls/find-pull.ts':
    'by pull-requests.test.ts, which looks for what is not there',
  'gateway/actions/pulls/add-review.ts': 'by reviews.test.ts, which says all that may be said',
  'gateway/actions/pulls/merge-now.ts': 'by pull-merge.test.ts, which meets all that is in its way',
  'gateway/actions/pulls/merge-pull.ts': 'by pull-merge.test.ts, which merges in every style',
  'gateway/actions/pulls/open-pull.ts': 'by pull-requests.test.ts, which opens what may be opened',
  'gateway/actions/pulls/pull-text.ts':
    'by pull-contents.test.ts, and web/pulls/pulls.test.ts from a page',
  'gateway/actions/pulls/refresh-pulls.ts': 'by pull-requests.test.ts and pull-merge.test.ts',
  'gateway/objects/code/changed-file-object.ts': 'by pull-contents.test.ts, field by field',
  'gateway/objects/notifications/notification-object.ts':
    'by notifications.test.ts, field by field',
  'gateway/api/repositories/related-users-page.ts':
    'by stars.test.ts and watches.test.ts, on both databases',
  'gateway/api/repositories/watch-info.ts': 'by watches.test.ts and issue-subscriptions.test.ts',
  'gateway/api/pulls/pull-access.ts': 'by pull-requests.test.ts, which looks for what is not there',
  'gateway/api/pulls/pull-edit.ts': 'by pull-requests.test.ts, which changes each field',
  'gateway/objects/pulls/pull-object.ts': 'by pull-requests.test.ts and api/swagger.test.ts',
  'gateway/api/pulls/pull-options.ts': 'by pull-requests.test.ts and pull-merge.test.ts',
  'gateway/api/pulls/review-access.ts': 'by reviews.test.ts and review-requests.test.ts',
  'gateway/objects/pulls/review-object.ts': 'by reviews.test.ts and api/swagger.test.ts',
  'gateway/api/operations.ts':
    'a list; api/swagger.test.ts and the credentials matrix go through it',
  'gateway/api/code/writable.ts': 'by file-changes.test.ts and branch-changes.test.ts',
  'conf/package.ts': 'shapes and a list without behaviour',
  'gateway/request/context.ts': 'a shape without behaviour',
  'gateway/request/route.ts': 'a shape without behaviour',
  'gateway/actions/code/git-queue.ts': 'by threats/floods.test.ts, whose clients wait in it',
  'gateway/pool/inspect.ts': 'by threats/event-loop.test.ts, whose uploads exceed its limits',
  'gateway/pool/pool-thread.ts': 'by web/kit/drawings.test.ts, whose texts it draws',
  'gateway/pool/pools.ts': 'by web/kit/drawings.test.ts, whose texts it draws',
  'gateway/pool/tasks.ts': 'by web/kit/drawings.test.ts and the tests of the formats',
  'gateway/pool/thread.ts': 'by pool.test.ts, whose tasks it runs',
  'gateway/pool/thread-clock.ts': 'by pool.test.ts, whose deadlines are of processor time',
  'gateway/imports/gather-contents.ts': 'by arriving.test.ts and journeys/migrate-contents.test.ts',
  'gateway/imports/settle-contents.ts': 'by arriving.test.ts and journeys/migrate-contents.test.ts',
  'gateway/git/intake.ts': 'by routes.test.ts and fetch.test.ts, which are refused there',
  'gateway/jobs/job.ts': 'a shape without behaviour',
  'gateway/packs/enter-queue.ts': 'by git/service.test.ts, whose requests wait and are refused',
  'gateway/packs/upload-pack.ts': 'by git/fetch.test.ts and journeys/ssh-clone.test.ts',
  'gateway/packs/warm.ts': 'by pack-cache.test.ts, whose caches it puts together',
  'gateway/request/request-times.ts': 'by metrics.test.ts, which reads what was counted',
  'gateway/ssh/conversation.ts': 'by journeys/ssh-clone.test.ts and threats/ssh.test.ts',
  'gateway/ssh/decision.ts': 'by journeys/ssh-clone.test.ts and ssh-push.test.ts',
  'gateway/ssh/surface.ts': 'by journeys/ssh-clone.test.ts, through sshd',
  'gateway/ssh/session.ts': 'by journeys/ssh-push.test.ts, through sshd',
  'gateway/fleet.ts': 'by journeys/signals.test.ts and reload.test.ts, as processes',
  'gateway/supervisor.ts': 'by journeys/signals.test.ts and threats/kill.test.ts, as processes',
  'gateway/worker.ts': 'by journeys/signals.test.ts, as a process',
  'registry/archive/byte-source.ts': 'a shape without behaviour',
  'registry/byte-file.ts': 'by received-file.test.ts, which reads what it received',
  'registry/inspections.ts': 'a list; the tests of the formats upload to each',
  'registry/archive/zip-extra.ts': 'by zip-layout.test.ts and zip-paths.test.ts, on both headers',
  'registry/swift/publish.ts': 'by swift/format.test.ts and journeys/swift-protocol.test.ts',
  'registry/swift/release.ts': 'by journeys/swift-protocol.test.ts, which reads its documents',
  'registry/format.ts': 'a shape; conformance/package-format.ts tries what it promises',
  'registry/formats.ts': 'a list; gateway/server.test.ts goes through it',
  'registry/index-maker.ts': 'a shape; conformance/package-format.ts tries what it promises',
  'registry/package-store.ts': 'a shape; lend-package-store.test.ts tries what it promises',
  'registry/composer/metadata.ts': 'by documents.test.ts, which reads what it wrote',
  'sql/repositories/forks.ts': 'by api/repositories/forks.test.ts, on both databases',
  'sql/issues/issue-subscriptions.ts':
    'by api/issues/issue-subscriptions.test.ts, on both databases',
  'sql/notifications/notifications.ts':
    'by api/notifications/notifications.test.ts, on both databases',
  'sql/organizations/organization-members.ts':
    'by api/organizations/organization-members.test.ts, on both databases',
  'sql/repositories/repository-facts.ts':
    'by api/repositories/topics.test.ts and forks.test.ts, on both databases',
  'sql/repositories/repository-lists.ts':
    'by visibility.test.ts and api/repositories/repository-lists.test.ts',
  'sql/repositories/repository-transfer.ts': 'by api/repositories/forks.test.ts, on both databases',
  'sql/repositories/stars-and-watches.ts':
    'by api/repositories/stars.test.ts and watches.test.ts, on both databases',
  'sql/repositories/templates.ts': 'by api/repositories/generate.test.ts, on both databases',
  'sql/organizations/teams.ts':
    'by api/organizations/teams.test.ts and team-contents.test.ts, on both databases',
  'sql/repositories/topics.ts': 'by api/repositories/topics.test.ts, on both databases',
  'sql/accounts/user-changes.ts': 'by api/admin/admin-users.test.ts and user-settings.test.ts',
  'sql/accounts/user-lists.ts':
    'by api/repositories/collaborators.test.ts and stars.test.ts, on both databases',
  'sql/accounts/user-search.ts':
    'by visibility.test.ts and api/accounts/users.test.ts, on both databases',
  'sql/database/bindings.ts': 'by users.test.ts and tokens.test.ts, on both databases',
  'sql/database/dialect.ts': 'by database.test.ts, on both databases',
  'sql/migrations/': 'by migrate.test.ts, up and down on both databases',
  'sql/database/mysql-client.ts': 'by database.test.ts and errors.test.ts',
  'sql/database/page.ts': 'by the lists of users.test.ts and tokens.test.ts',
  'sql/database/retry.ts': 'by database.test.ts, with real deadlocks',
  'sql/database/sqlite-client.ts': 'by database.test.ts and errors.test.ts',
  'registry/storage/storage.ts': 'a shape; conformance/blob-storage.ts tries what it promises',
  'conf/limits.ts': 'numbers without behaviour; each is tried where it is used',
}

const mirror: Rule = {
  name: 'every source file has its test at the same path under test/',
  advice: 'Write test/<path>.test.ts, or name the file in TESTED_ELSEWHERE with the reason.',
  find: (files) => {
    const paths = new Set(files.map(({ path }) => path))
    return [...paths]
      .filter((path) => /^(?:conf|sql|cgi|gateway|registry)\/.*(?<!\.d)\.tsx?$/.test(path))
      .filter((path) => !Object.keys(TESTED_ELSEWHERE).some((excused) => path.startsWith(excused)))
      .filter((path) => !testsOf(path).some((test) => paths.has(test)))
  },
  breaks: [{ path: 'registry/debian/routes.ts', text: '' }],
}

/** The test of a source; of a file that each package format has, also one suite for all of them. */
function testsOf(path: string): readonly string[] {
  const own = `test/${path.replace(/\.tsx?$/, '.test.ts')}`
  return [own, own.replace(/^test\/registry\/\w+\/(install)\./, 'test/registry/$1.')]
}

const names: Rule = {
  name: 'no file is called utils or index',
  advice: 'Name the file for what it does, and import it from where it stands.',
  find: (files) =>
    files
      .map(({ path }) => path)
      .filter((path) => /(?:^|\/)(?:utils?|helpers?|common|misc|index)\.ts$/.test(path)),
  breaks: [
    { path: 'cgi/utils.ts', text: '' },
    { path: 'gateway/api/index.ts', text: '' },
  ],
}

const spreads: Rule = {
  name: 'no literal is spread into another one',
  advice: 'Write the properties or the elements out.',
  find: (files) => linesWith(files.filter(isSource), /\.\.\.(?:\{[^{}]*\}|\[[^[\]]*\])\s*[,\])}]/),
  breaks: [
    { path: 'sql/accounts/users.ts', text: `const user = { ${'...'}{ id, name }, isAdmin }` },
    { path: 'sql/accounts/users.ts', text: `const ids = [${'...'}[1, 2], 3]` },
  ],
}

/** Who alone may import what was borrowed; tests may as well. */
const ROOM_OF_LIBRARY: Readonly<Record<string, RegExp>> = {
  '@simplewebauthn/server': /^gateway\/auth\/security-keys\.ts$/,
  'uWebSockets.js': /^gateway\/http\//,
  'better-sqlite3': /^sql\//,
  mysql2: /^sql\//,
  // The peer of a benchmark is a program of its own, and speaks to knex as a stranger would.
  knex: /^sql\/|^scripts\/benchmarks\/fastify-server/,
  execa: /^cgi\/process\/spawn-group\.ts$/,
  // What users name is called by the one client that looks where it leads.
  'node:http': /^gateway\/(?:forward|outbound\/client)\.ts$|^scripts\/benchmarks\//,
  'node:https': /^gateway\/(?:forward|outbound\/client)\.ts$/,
  'node:dns': /^gateway\/outbound\/address\.ts$/,
  'node:child_process': /^cgi\/process\/spawn-group\.ts$/,
  child_process: /^(?!)/,
  'lru-cache':
    /^(?:registry\/(?:documents|blob-bodies)|cgi\/(?:objects\/(?:history|commit-changes)|process\/refusals)|gateway\/(?:client-address|packs\/pack-cache|web\/kit\/drawings))\.ts$/,
  'modern-tar': /^registry\/archive\/tar\.ts$/,
  fzstd: /^registry\/archive\/unzstd\.ts$/,
  openpgp: /^registry\/sign\/openpgp\.ts$/,
  uqr: /^gateway\/web\/accounts\/qr-code\.tsx$/,
  'xz-decompress': /^registry\/archive\/unxz\.ts$/,
  'seek-bzip': /^registry\/archive\/bunzip2\.ts$/,
  'http-proxy': /^gateway\/forward\.ts$/,
  'node-forge': /^registry\/sign\/rsa\.ts$/,
  'prom-client': /^gateway\/(?:metrics|request-times)\.ts$/,
  'smol-toml': /^conf\/load\.ts$/,
  s3mini: /^registry\/storage\/s3\.ts$/,
  pino: /^conf\/log\.ts$/,
  semver:
    /^(?:registry\/(?:go\/module-version|swift\/versions)|scripts\/commands\/node-version)\.ts$/,
  yauzl: /^registry\/archive\/zip\.ts$/,
}

/** The files outside test/ that import the library or a part of it. */
function importersOf(library: string, files: readonly ProjectFile[]): readonly string[] {
  const name = library.replaceAll('.', '\\.')
  const pattern = new RegExp(`(?:from|import|require)\\s*\\(?\\s*['"]${name}(?:/[^'"]*)?['"]`)
  return files
    .filter((file) => isSource(file) && !isTest(file) && pattern.test(file.text))
    .map(({ path }) => path)
}

const libraries: Rule = {
  name: 'a borrowed library is spoken to by one room',
  advice: 'Ask the room that owns the library (ROOM_OF_LIBRARY) for what you need.',
  find: (files) =>
    Object.entries(ROOM_OF_LIBRARY).flatMap(([library, room]) =>
      importersOf(library, files)
        .filter((path) => !room.test(path))
        .map((path) => `${path} imports ${library}`),
    ),
  breaks: [
    { path: 'gateway/request/router.ts', text: "import { App } from 'uWebSockets.js'\n" },
    { path: 'gateway/api/users.ts', text: "import type { Knex } from 'knex'\n" },
    { path: 'cgi/process/git.ts', text: "import { execa } from 'execa'\n" },
    { path: 'cgi/process/run.ts', text: "import { spawn } from 'node:child_process'\n" },
    { path: 'gateway/server.ts', text: "await import('http-proxy')\n" },
    { path: 'gateway/server.ts', text: "import {\n  pino,\n} from 'pino'\n" },
    { path: 'gateway/server.ts', text: "import 'prom-client'\n" },
    { path: 'scripts/gatehouse.ts', text: "import mysql from 'mysql2/promise'\n" },
  ],
}

const environment: Rule = {
  name: 'the environment is read in conf/load.ts alone',
  advice: 'Make it a setting in conf/schemas.ts, or take it as a parameter.',
  find: (files) =>
    linesWith(
      files.filter((file) => isSource(file) && !isTest(file) && file.path !== 'conf/load.ts'),
      /\bprocess\.env\b|\bprocess\[|\benv\b.*from 'node:process'/,
    ),
  breaks: [
    { path: 'cgi/process/run.ts', text: 'const path = process.env.PATH\n' },
    { path: 'cgi/process/run.ts', text: "import { env } from 'node:process'\n" },
  ],
}

const callers: Rule = {
  name: 'nobody calls out past the one client',
  advice: 'Call by gateway/outbound/client, which checks where an address leads.',
  find: (files) =>
    linesWith(
      files.filter(
        (file) =>
          /^(?:conf|sql|cgi|gateway|registry)\/.*\.ts$/.test(file.path) &&
          file.path !== 'registry/storage/in-time.ts',
      ),
      /(?<![.#\w])fetch\(/,
    ),
  breaks: [
    { path: 'gateway/api/repositories/migrations.ts', text: 'const answer = await fetch(url)\n' },
  ],
}

const SURFACES = ['api', 'web', 'git', 'ssh', 'oauth', 'packages', 'jobs']

const surfaces: Rule = {
  name: 'a surface of the gateway imports no other surface',
  advice: 'Put what two surfaces need into gateway/actions, or into a folder below both.',
  find: (files) =>
    SURFACES.flatMap((surface) => {
      const others = SURFACES.filter((other) => other !== surface).map(
        (other) => `gateway/${other}/`,
      )
      return files
        .filter(({ path }) => path.startsWith(`gateway/${surface}/`))
        .flatMap(({ path, text }) =>
          importedFiles(path, text)
            .filter((file) => others.some((other) => file.startsWith(other)))
            .map((file) => `${path} imports ${file}`),
        )
    }),
  breaks: [
    { path: 'gateway/ssh/surface.ts', text: "import { answerFetch } from '../git/fetch.js'\n" },
    {
      path: 'gateway/api/accounts/users.ts',
      text: "import { page } from '../../web/kit/page.js'\n",
    },
    { path: 'gateway/jobs/upkeep.ts', text: "await import('../git/push-recovery.js')\n" },
  ],
}

/** The files that relative imports name. */
function importedFiles(path: string, text: string): readonly string[] {
  return [...text.matchAll(/(?:from|import\() ?'(\.[^']*)'/g)].map(([, file = '']) =>
    join(dirname(path), file),
  )
}

const FOLDERS = ['.ci', 'cgi', 'conf', 'docs', 'gateway', 'registry', 'scripts', 'sql', 'test']

const folders: Rule = {
  name: 'the house has no other rooms than those of its plan',
  advice: `Put it into one of ${FOLDERS.join(', ')}.`,
  find: (files) =>
    files
      .map(({ path }) => path)
      .filter((path) => path.includes('/') && !FOLDERS.includes(path.slice(0, path.indexOf('/')))),
  breaks: [{ path: 'src/main.ts', text: '' }],
}

/** Apart, so that the rule does not find itself. */
const UNFINISHED = ['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK']

const unfinished: Rule = {
  name: 'nothing is left unfinished in a comment',
  advice: 'Do it now, or open an issue and take the word out.',
  find: (files) =>
    linesWith(
      files.filter((file) => !isLock(file)),
      new RegExp(`\\b(?:${UNFINISHED.join('|')})\\b`),
    ),
  breaks: UNFINISHED.map((word) => ({ path: 'cgi/process/run.ts', text: `// ${word}: later\n` })),
}

const ELSEWHERE = ['registry.npm' + 'js.org', 'registry.yarn' + 'pkg.com', 'npm' + 'mirror.com']
const MACHINES = ['/wo' + 'rk/', '/ro' + 'ot/', '/tmp/ho' + 'use', '/ho' + 'me/']

const places: Rule = {
  name: 'no file names a package registry or a folder of one machine',
  advice: 'Leave the registry to npm’s own configuration, and paths to the settings.',
  find: (files) =>
    linesWith(
      files,
      new RegExp(
        `${ELSEWHERE.join('|').replaceAll('.', '\\.')}|(?<![\\w.*}-])(?:${MACHINES.join('|')})`,
      ),
    ),
  breaks: [...ELSEWHERE, ...MACHINES].map((place) => ({
    path: 'package-lock.json',
    text: `"resolved": "${place}x"`,
  })),
}

const [ONLY, SKIP, LATER] = ['on' + 'ly', 'sk' + 'ip', 'to' + 'do']

const whole: Rule = {
  name: 'every test runs, always',
  advice: 'Make the test pass or delete it; a missing program is a failure, not an excuse.',
  find: (files) => {
    const words = `(?:${ONLY}|${SKIP}|${LATER})`
    const pattern = new RegExp(`\\bt\\w*\\.${words}\\b|[{,]\\s*${words}\\s*[:,}]`)
    return linesWith(files.filter(isTest).filter(isSource), pattern)
  },
  breaks: [
    { path: 'test/cgi/process/run.test.ts', text: `t.${SKIP}('later', async () => {})\n` },
    { path: 'test/cgi/process/run.test.ts', text: `t.${ONLY}('this', async () => {})\n` },
    {
      path: 'test/cgi/process/run.test.ts',
      text: `t.test('x', { ${SKIP}: !isRoot }, async () => {})\n`,
    },
    { path: 'test/cgi/process/run.test.ts', text: `t.test('x', { timeout: 1, ${LATER}: true })\n` },
  ],
}

const RULES = [
  opening,
  length,
  columns,
  mirror,
  names,
  spreads,
  libraries,
  environment,
  callers,
  surfaces,
  folders,
  unfinished,
  places,
  whole,
]

const fixture = projectFiles()

for (const rule of RULES) {
  t.test(rule.name, async (t) => {
    t.strictSame(rule.find(fixture), [], rule.advice)
    for (const broken of rule.breaks) {
      t.equal(rule.find([broken]).length, 1, `and it would be seen: ${JSON.stringify(broken)}`)
    }
  })
}
