/** List of the migrations. Released migrations are never edited. */

import type { Knex } from 'knex'
import * as accounts from './0001-accounts.js'
import * as repositories from './0002-repositories.js'
import * as jobs from './0003-jobs.js'
import * as keys from './0004-keys.js'
import * as packages from './0005-packages.js'
import * as packageIndexes from './0006-package-indexes.js'
import * as indexKeys from './0007-index-keys.js'
import * as formerSigningKeys from './0008-former-signing-keys.js'
import * as issues from './0009-issues.js'
import * as releases from './0010-releases.js'
import * as webhooks from './0011-webhooks.js'
import * as pulls from './0012-pulls.js'
import * as people from './0013-people.js'
import * as migrations from './0014-migrations.js'
import * as branchProtections from './0015-branch-protections.js'
import * as starsAndWatches from './0016-stars-and-watches.js'
import * as notifications from './0017-notifications.js'
import * as importedContents from './0018-imported-contents.js'
import * as pullForks from './0019-pull-forks.js'
import * as limitedTokens from './0020-limited-tokens.js'
import * as sessions from './0021-sessions.js'
import * as secondFactors from './0022-second-factors.js'
import * as oauth from './0023-oauth.js'
import * as administration from './0024-administration.js'
import * as securityKeys from './0025-security-keys.js'
import * as changeCounter from './0026-change-counter.js'
import * as workflows from './0027-workflows.js'
import * as workflowSecrets from './0028-workflow-secrets.js'
import * as runnerSettings from './0029-runner-settings.js'
import * as workflowTrust from './0030-workflow-trust.js'
import * as runEvents from './0031-run-events.js'
import * as runAttempts from './0032-run-attempts.js'
import * as artifacts from './0033-artifacts.js'
import * as deferredJobs from './0034-deferred-jobs.js'
import * as workflowSchedules from './0035-workflow-schedules.js'
import * as stepSummaries from './0036-step-summaries.js'
import * as runNotifications from './0037-run-notifications.js'
import * as workflowLogs from './0038-workflow-logs.js'
import * as jobEnvironment from './0039-job-environment.js'
import * as packageRetention from './0040-package-retention.js'
import * as indexValidity from './0041-index-validity.js'
import * as packageDownloads from './0042-package-downloads.js'
import * as packageLists from './0043-package-lists.js'
import * as lfs from './0044-lfs.js'
import * as wikis from './0046-wikis.js'
import * as followsAndBlocks from './0047-follows-and-blocks.js'
import * as avatars from './0048-avatars.js'
import * as activities from './0049-activities.js'
import * as issueEvents from './0050-issue-events.js'
import * as issueAttachments from './0051-issue-attachments.js'
import * as issueLinks from './0052-issue-links.js'
import * as trackedTimes from './0053-tracked-times.js'
import * as tagProtections from './0055-tag-protections.js'
import * as pushMirrors from './0056-push-mirrors.js'
import * as hookServices from './0057-hook-services.js'
import * as siteWebhooks from './0062-site-webhooks.js'
import * as ownerRedirects from './0063-owner-redirects.js'
import * as secretFingerprint from './0064-secret-fingerprint.js'
import * as gpgKeys from './0066-gpg-keys.js'
import * as repositoryTransfers from './0068-repository-transfers.js'
import * as mirrorContents from './0070-mirror-contents.js'
import * as holds from './0073-holds.js'
import * as audit from './0075-audit.js'
import * as packageReadmes from './0078-package-readmes.js'
import * as lfsQuotas from './0083-lfs-quotas.js'
import * as backups from './0086-backups.js'
import * as failedAttempts from './0087-failed-attempts.js'
import * as transferNotifications from './0088-transfer-notifications.js'

/**
 * Migration of the schema. Both functions are idempotent, so a killed process can run them again.
 */
export interface Migration {
  readonly name: string
  readonly up: (db: Knex) => Promise<void>
  readonly down: (db: Knex) => Promise<void>
}

/** Migrations in the order of their execution. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-accounts', ...accounts },
  { name: '0002-repositories', ...repositories },
  { name: '0003-jobs', ...jobs },
  { name: '0004-keys', ...keys },
  { name: '0005-packages', ...packages },
  { name: '0006-package-indexes', ...packageIndexes },
  { name: '0007-index-keys', ...indexKeys },
  { name: '0008-former-signing-keys', ...formerSigningKeys },
  { name: '0009-issues', ...issues },
  { name: '0010-releases', ...releases },
  { name: '0011-webhooks', ...webhooks },
  { name: '0012-pulls', ...pulls },
  { name: '0013-people', ...people },
  { name: '0014-migrations', ...migrations },
  { name: '0015-branch-protections', ...branchProtections },
  { name: '0016-stars-and-watches', ...starsAndWatches },
  { name: '0017-notifications', ...notifications },
  { name: '0018-imported-contents', ...importedContents },
  { name: '0019-pull-forks', ...pullForks },
  { name: '0020-limited-tokens', ...limitedTokens },
  { name: '0021-sessions', ...sessions },
  { name: '0022-second-factors', ...secondFactors },
  { name: '0023-oauth', ...oauth },
  { name: '0024-administration', ...administration },
  { name: '0025-security-keys', ...securityKeys },
  { name: '0026-change-counter', ...changeCounter },
  { name: '0027-workflows', ...workflows },
  { name: '0028-workflow-secrets', ...workflowSecrets },
  { name: '0029-runner-settings', ...runnerSettings },
  { name: '0030-workflow-trust', ...workflowTrust },
  { name: '0031-run-events', ...runEvents },
  { name: '0032-run-attempts', ...runAttempts },
  { name: '0033-artifacts', ...artifacts },
  { name: '0034-deferred-jobs', ...deferredJobs },
  { name: '0035-workflow-schedules', ...workflowSchedules },
  { name: '0036-step-summaries', ...stepSummaries },
  { name: '0037-run-notifications', ...runNotifications },
  { name: '0038-workflow-logs', ...workflowLogs },
  { name: '0039-job-environment', ...jobEnvironment },
  { name: '0040-package-retention', ...packageRetention },
  { name: '0041-index-validity', ...indexValidity },
  { name: '0042-package-downloads', ...packageDownloads },
  { name: '0043-package-lists', ...packageLists },
  { name: '0044-lfs', ...lfs },
  { name: '0046-wikis', ...wikis },
  { name: '0047-follows-and-blocks', ...followsAndBlocks },
  { name: '0048-avatars', ...avatars },
  { name: '0049-activities', ...activities },
  { name: '0050-issue-events', ...issueEvents },
  { name: '0051-issue-attachments', ...issueAttachments },
  { name: '0052-issue-links', ...issueLinks },
  { name: '0053-tracked-times', ...trackedTimes },
  { name: '0055-tag-protections', ...tagProtections },
  { name: '0056-push-mirrors', ...pushMirrors },
  { name: '0057-hook-services', ...hookServices },
  { name: '0062-site-webhooks', ...siteWebhooks },
  { name: '0063-owner-redirects', ...ownerRedirects },
  { name: '0064-secret-fingerprint', ...secretFingerprint },
  { name: '0066-gpg-keys', ...gpgKeys },
  { name: '0068-repository-transfers', ...repositoryTransfers },
  { name: '0070-mirror-contents', ...mirrorContents },
  { name: '0073-holds', ...holds },
  { name: '0075-audit', ...audit },
  { name: '0078-package-readmes', ...packageReadmes },
  { name: '0083-lfs-quotas', ...lfsQuotas },
  { name: '0086-backups', ...backups },
  { name: '0087-failed-attempts', ...failedAttempts },
  { name: '0088-transfer-notifications', ...transferNotifications },
]
