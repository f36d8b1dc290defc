/** Rule for tests: a source file has a test that its path leads to. */

import t from 'tap'
import { checkRules, importedFiles, isSource, type ProjectFile, type Rule } from './rules.js'

/** Files and folders that tests reach only through a running server. */
const TESTED_ELSEWHERE: Readonly<Record<string, string>> = {
  'gateway/http/certificate.ts': 'scripts/commands/doctor.test.ts',
  'cgi/process/launcher-process.ts': 'cgi/process/launcher.test.ts',
  'cgi/process/notify-ready.ts': 'journeys/https.test.ts',
  'gateway/request/audited-details.ts': 'gateway/request/audit.test.ts',
  'gateway/objects/audit-object.ts': 'gateway/request/audit.test.ts',
  'gateway/api/admin/audit.ts': 'gateway/request/audit.test.ts',
  'scripts/commands/audited.ts': 'journeys/command-line.test.ts',
  'sql/packages/attachment-rows.ts': 'registry/attachments.test.ts',
  'sql/repositories/all-repositories.ts': 'sql/repositories/repositories.test.ts',
  'cgi/repository/captured-': 'gateway/backup/take-backup.test.ts',
  'cgi/repository/rebuild.ts': 'gateway/backup/take-backup.test.ts',
  'gateway/backup/': 'backup/take-backup.test.ts and journeys/backup.test.ts',
  'gateway/jobs/back-up-site.ts': 'gateway/backup/take-backup.test.ts',
  'sql/admin/backups.ts': 'gateway/backup/take-backup.test.ts and scripts/commands/doctor.test.ts',
  'scripts/commands/interruptible.ts': 'journeys/backup.test.ts',
  'conf/lib/reason-of.ts': 'scripts/commands/doctor.test.ts',
  'gateway/doctor/': 'scripts/commands/doctor.test.ts',
  'cgi/objects/apply-patch.ts': 'api/code/apply-patch.test.ts',
  'cgi/transfer/push-refs.ts': 'gateway/jobs/sync-push-mirror.test.ts',
  'gateway/objects/wiki/wiki-page-object.ts': 'api/wiki/wiki-pages.test.ts',
  'cgi/repository/template.ts': 'api/repositories/generate.test.ts',
  'gateway/git/go-import.ts': 'journeys/go-modules.test.ts',
  'gateway/auth/oauth-client.ts': 'oauth/access-token.test.ts',
  'gateway/auth/authorize-source.ts': 'packages/source-repositories.test.ts',
  'gateway/auth/ticket.ts': 'web/accounts/two-factor.test.ts',
  'gateway/auth/visible-owner.ts': 'web/pages.test.ts and api/accounts/users.test.ts',
  'cgi/refs/reference-faults.ts': 'gateway/check/planted-faults.test.ts',
  'conf/seal-contexts.ts': 'gateway/check/planted-faults.test.ts',
  'gateway/check/': 'check/check-site.test.ts and check/planted-faults.test.ts',
  'registry/indexing/compare.ts': 'gateway/check/planted-faults.test.ts',
  'gateway/fleet.ts': 'journeys/signals.test.ts and journeys/reload.test.ts',
  'gateway/peer-watch.ts': 'journeys/gateways-clone.test.ts',
  'gateway/notifications/activity-subscriber.ts': 'api/accounts/activity-feeds.test.ts',
  'gateway/oauth/': 'oauth/access-token.test.ts and threats/oauth.test.ts',
  'gateway/packs/enter-queue.ts': 'git/service.test.ts',
  'gateway/packs/upload-pack.ts': 'git/fetch.test.ts and journeys/ssh-clone.test.ts',
  'gateway/api/avatar-routes.ts': 'api/accounts/avatars.test.ts',
  'gateway/pool/shrink.ts': 'api/accounts/avatars.test.ts and threats/event-loop.test.ts',
  'gateway/pool/openpgp.ts': 'api/accounts/gpg-keys.test.ts',
  'registry/sign/openpgp-keys.ts': 'gateway/api/accounts/gpg-keys.test.ts',
  'gateway/pool/digest-thread.ts': 'pool/digests.test.ts',
  'gateway/pool/inspect.ts': 'threats/event-loop.test.ts',
  'gateway/known-files/templates.ts': 'gateway/api/repositories/templates.test.ts',
  'gateway/known-files/detect-license.ts': 'api/repositories/repository-licenses.test.ts',
  'gateway/known-files/issue-files.ts': 'api/issues/issue-files.test.ts',
  'gateway/rendering/': 'web/pages.test.ts and threats/hostile-pages.test.ts',
  'gateway/request/events.ts': 'the tests of webhooks/',
  'gateway/auth/lfs-ticket.ts': 'git/lfs-routes.test.ts and journeys/lfs.test.ts',
  'gateway/git/lfs-': 'git/lfs-routes.test.ts and journeys/lfs.test.ts',
  'gateway/request/lfs-address.ts': 'git/lfs-routes.test.ts and journeys/lfs.test.ts',
  'gateway/request/site-metrics.ts': 'gateway/health.test.ts',
  'gateway/auth/artifact-address.ts': 'artifacts/blob-routes.test.ts',
  'gateway/auth/authenticate-task.ts': 'artifacts/service-routes.test.ts',
  'gateway/artifacts/': 'artifacts/service-routes.test.ts and artifacts/blob-routes.test.ts',
  'registry/artifacts.ts': 'gateway/artifacts/blob-routes.test.ts',
  'registry/lfs-objects.ts': 'gateway/git/lfs-routes.test.ts',
  'registry/go/source-versions.ts': 'gateway/packages/source-repositories.test.ts',
  'registry/go/source-zip.ts': 'journeys/go-modules.test.ts',
  'registry/limited-body.ts': 'gateway/artifacts/blob-routes.test.ts',
  'gateway/auth/authenticate-runner.ts': 'runners/runner-protocol.test.ts',
  'gateway/pool/plan.ts': 'runs/plan-event.test.ts',
  'gateway/runners/': 'runners/runner-protocol.test.ts',
  'gateway/runs/': 'runs/plan-event.test.ts and runners/runner-protocol.test.ts',
  'gateway/ssh/': 'journeys/ssh-clone.test.ts, journeys/ssh-push.test.ts and threats/ssh.test.ts',
  'gateway/supervisor.ts': 'journeys/signals.test.ts and threats/kill.test.ts',
  'gateway/web/assets.ts': 'web/pages.test.ts',
  'gateway/web/kit/': 'web/pages.test.ts and threats/hostile-pages.test.ts',
  'gateway/webhooks/': 'the tests of webhooks/ and api/webhooks/repository-hooks.test.ts',
  'gateway/worker.ts': 'journeys/signals.test.ts',
  'sql/database/': 'database.test.ts and errors.test.ts, on both databases',
  'sql/migrations/': 'migrate.test.ts, up and down on both databases',
}

const LAYER_AND_NOUN = /^(?:gateway\/(?:actions|api|objects|web)|sql)\/([a-z]+)\//

const mirror: Rule = {
  name: 'a source file has a test at its path, in its noun, or with an import of it',
  advice: 'Write test/<path>.test.ts. TESTED_ELSEWHERE is for code that only a server reaches.',
  find: (files) => {
    const paths = new Set(files.map(({ path }) => path))
    const tests = files.filter(({ path }) => path.endsWith('.test.ts'))
    const imported = new Set(tests.flatMap(importsOf))
    const nouns = new Set(tests.flatMap(({ path }) => nounOfTest(path) ?? []))
    const hasTest = (path: string) =>
      testsOf(path).some((test) => paths.has(test)) || imported.has(withoutExtension(path))
    const sources = files.filter(isTestable)
    // A part that a tested file of the same folder uses is tested through that file.
    const parts = new Set(
      sources
        .filter(({ path }) => hasTest(path))
        .flatMap((file) =>
          importsOf(file).filter((path) => folderOf(path) === folderOf(file.path)),
        ),
    )
    return sources
      .map(({ path }) => path)
      .filter((path) => !hasTest(path) && !parts.has(withoutExtension(path)))
      .filter((path) => !nouns.has(LAYER_AND_NOUN.exec(path)?.[1] ?? ''))
      .filter((path) => !Object.keys(TESTED_ELSEWHERE).some((excused) => path.startsWith(excused)))
  },
  breaks: [{ path: 'registry/debian/routes.ts', text: 'export function route() {}\n' }],
}

/** Returns true for a source with code of its own, which a file of types and constants has not. */
function isTestable({ path, text }: ProjectFile): boolean {
  return (
    isSource({ path, text }) &&
    /^(?:conf|sql|cgi|gateway|registry)\/.*(?<!\.d)\.tsx?$/.test(path) &&
    /\bfunction\b|=>|\bclass\b/.test(text)
  )
}

/** Returns the noun whose operations or pages a test tries. */
function nounOfTest(path: string): string | undefined {
  return /^test\/gateway\/(?:api|web)\/([a-z]+)\//.exec(path)?.[1]
}

/** Returns the test of a source; one suite tests a file that each package format has. */
function testsOf(path: string): readonly string[] {
  const own = `test/${withoutExtension(path)}.test.ts`
  return [own, own.replace(/^test\/registry\/\w+\/(install)\./, 'test/registry/$1.')]
}

function importsOf(file: ProjectFile): readonly string[] {
  return importedFiles(file).map((path) => withoutExtension(path))
}

function withoutExtension(path: string): string {
  return path.replace(/\.(?:tsx?|js)$/, '')
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

checkRules(t, [mirror])
