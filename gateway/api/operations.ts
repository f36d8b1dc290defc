/** List of all operations that the API serves; each resource adds one line to it. */

import { ACTIVITY_OPERATIONS } from './accounts/activity-feeds.js'
import { AVATAR_OPERATIONS } from './accounts/avatars.js'
import { BLOCK_OPERATIONS } from './accounts/blocks.js'
import { EMAIL_OPERATIONS } from './accounts/emails.js'
import { FOLLOW_OPERATIONS } from './accounts/follows.js'
import { GPG_KEY_OPERATIONS } from './accounts/gpg-keys.js'
import { OAUTH_APPLICATION_OPERATIONS } from './accounts/oauth-applications.js'
import { TOKEN_OPERATIONS } from './accounts/tokens.js'
import { USER_KEY_OPERATIONS } from './accounts/user-keys.js'
import { USER_SETTING_OPERATIONS } from './accounts/user-settings.js'
import { USER_OPERATIONS } from './accounts/users.js'
import { ADMIN_OWNED_OPERATIONS } from './admin/admin-belongings.js'
import { ADMIN_USER_OPERATIONS } from './admin/admin-users.js'
import { AUDIT_OPERATIONS } from './admin/audit.js'
import { CRON_OPERATIONS } from './admin/cron.js'
import { MARKUP_OPERATIONS } from './admin/markup.js'
import { NODE_INFO_OPERATIONS } from './admin/node-info.js'
import { SETTING_OPERATIONS } from './admin/settings.js'
import { VERSION_OPERATIONS } from './admin/version.js'
import { BRANCH_CHANGE_OPERATIONS } from './code/branch-changes.js'
import { BRANCH_PROTECTION_OPERATIONS } from './code/branch-protections.js'
import { COMMIT_STATUS_OPERATIONS } from './code/commit-statuses.js'
import { COMPARE_OPERATIONS } from './code/compare.js'
import { FILE_CHANGE_OPERATIONS } from './code/file-changes.js'
import { ARCHIVE_OPERATIONS } from './code/get-archives.js'
import { BRANCH_READING_OPERATIONS } from './code/get-branches.js'
import { COMMIT_READING_OPERATIONS } from './code/get-commits.js'
import { CONTENTS_READING_OPERATIONS } from './code/get-contents.js'
import { RAW_OPERATIONS } from './code/get-raw.js'
import { TAG_READING_OPERATIONS } from './code/get-tags.js'
import { GIT_OBJECT_OPERATIONS } from './code/git-objects.js'
import { TAG_CHANGE_OPERATIONS } from './code/tag-changes.js'
import { TAG_PROTECTION_OPERATIONS } from './code/tag-protections.js'
import { ASSIGNEE_OPERATIONS } from './issues/assignees.js'
import { COMMENT_OPERATIONS } from './issues/comments.js'
import { DEPENDENCY_OPERATIONS } from './issues/dependencies.js'
import { ISSUE_ATTACHMENT_OPERATIONS } from './issues/issue-attachments.js'
import { ISSUE_FILE_OPERATIONS } from './issues/issue-files.js'
import { ISSUE_LABEL_OPERATIONS } from './issues/issue-labels.js'
import { ISSUE_LOCK_OPERATIONS } from './issues/issue-locks.js'
import { ISSUE_SEARCH_OPERATIONS } from './issues/issue-search.js'
import { ISSUE_SUBSCRIPTION_OPERATIONS } from './issues/issue-subscriptions.js'
import { ISSUE_OPERATIONS } from './issues/issues.js'
import { LABEL_OPERATIONS } from './issues/labels.js'
import { MILESTONE_OPERATIONS } from './issues/milestones.js'
import { PIN_OPERATIONS } from './issues/pins.js'
import { REACTION_OPERATIONS } from './issues/reactions.js'
import { STOPWATCH_OPERATIONS } from './issues/stopwatches.js'
import { TIMELINE_OPERATIONS } from './issues/timeline.js'
import { TRACKED_TIME_OPERATIONS } from './issues/tracked-times.js'
import { NOTIFICATION_OPERATIONS } from './notifications/notifications.js'
import type { AnyOperation } from './operation.js'
import { ORGANIZATION_LABEL_OPERATIONS } from './organizations/organization-labels.js'
import { ORGANIZATION_MEMBER_OPERATIONS } from './organizations/organization-members.js'
import { ORGANIZATION_OPERATIONS } from './organizations/organizations.js'
import { TEAM_CONTENT_OPERATIONS } from './organizations/team-contents.js'
import { TEAM_OPERATIONS } from './organizations/teams.js'
import { CLEANUP_RULE_OPERATIONS } from './packages/cleanup-rules.js'
import { PACKAGE_DOWNLOAD_OPERATIONS } from './packages/package-downloads.js'
import { PACKAGE_SETTING_OPERATIONS } from './packages/package-settings.js'
import { PACKAGE_OPERATIONS } from './packages/packages.js'
import { PULL_CONTENT_OPERATIONS } from './pulls/pull-contents.js'
import { PULL_MERGE_OPERATIONS } from './pulls/pull-merge.js'
import { PULL_REQUEST_OPERATIONS } from './pulls/pulls.js'
import { REVIEW_DISMISSAL_OPERATIONS } from './pulls/review-dismissals.js'
import { REVIEW_REQUEST_OPERATIONS } from './pulls/review-requests.js'
import { REVIEW_OPERATIONS } from './pulls/reviews.js'
import { RELEASE_ATTACHMENT_OPERATIONS } from './releases/release-attachments.js'
import { RELEASE_OPERATIONS } from './releases/releases.js'
import { COLLABORATOR_OPERATIONS } from './repositories/collaborators.js'
import { DEPLOY_KEY_OPERATIONS } from './repositories/deploy-keys.js'
import { FORK_OPERATIONS } from './repositories/forks.js'
import { GENERATE_OPERATIONS } from './repositories/generate.js'
import { LANGUAGE_OPERATIONS } from './repositories/languages.js'
import { MIGRATION_OPERATIONS } from './repositories/migrations.js'
import { PRUNE_OPERATIONS } from './repositories/prune.js'
import { PUSH_MIRROR_OPERATIONS } from './repositories/push-mirrors.js'
import { REPOSITORY_OPERATIONS } from './repositories/repositories.js'
import { REPOSITORY_LICENSE_OPERATIONS } from './repositories/repository-licenses.js'
import { REPOSITORY_LIST_OPERATIONS } from './repositories/repository-lists.js'
import { REPOSITORY_TEAM_OPERATIONS } from './repositories/repository-teams.js'
import { STAR_OPERATIONS } from './repositories/stars.js'
import { TEMPLATE_OPERATIONS } from './repositories/templates.js'
import { TOPIC_OPERATIONS } from './repositories/topics.js'
import { TRANSFER_OPERATIONS } from './repositories/transfers.js'
import { WATCH_OPERATIONS } from './repositories/watches.js'
import { RUNNER_OPERATIONS } from './runners/runners.js'
import { ARTIFACT_OPERATIONS } from './runs/artifacts.js'
import { RERUN_OPERATIONS } from './runs/rerun.js'
import { RUN_JOB_OPERATIONS } from './runs/run-jobs.js'
import { RUN_LIST_OPERATIONS } from './runs/run-lists.js'
import { RUN_OPERATIONS } from './runs/runs.js'
import { ACTION_VALUE_OPERATIONS } from './runs/values.js'
import { WORKFLOW_OPERATIONS } from './runs/workflows.js'
import { ORGANIZATION_HOOK_OPERATIONS } from './webhooks/organization-webhooks.js'
import { REPOSITORY_HOOK_OPERATIONS } from './webhooks/repository-webhooks.js'
import { SITE_HOOK_OPERATIONS } from './webhooks/site-webhooks.js'
import { USER_HOOK_OPERATIONS } from './webhooks/user-webhooks.js'
import { WIKI_OPERATIONS } from './wiki/wiki-pages.js'

export const OPERATIONS: readonly AnyOperation[] = [
  ...ACTION_VALUE_OPERATIONS,
  ...ACTIVITY_OPERATIONS,
  ...ADMIN_OWNED_OPERATIONS,
  ...ADMIN_USER_OPERATIONS,
  ...ARCHIVE_OPERATIONS,
  ...ASSIGNEE_OPERATIONS,
  ...AVATAR_OPERATIONS,
  ...BLOCK_OPERATIONS,
  ...BRANCH_CHANGE_OPERATIONS,
  ...BRANCH_PROTECTION_OPERATIONS,
  ...BRANCH_READING_OPERATIONS,
  ...COLLABORATOR_OPERATIONS,
  ...COMMENT_OPERATIONS,
  ...COMMIT_READING_OPERATIONS,
  ...COMMIT_STATUS_OPERATIONS,
  ...COMPARE_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...CRON_OPERATIONS,
  ...CONTENTS_READING_OPERATIONS,
  ...DEPENDENCY_OPERATIONS,
  ...DEPLOY_KEY_OPERATIONS,
  ...EMAIL_OPERATIONS,
  ...FILE_CHANGE_OPERATIONS,
  ...FOLLOW_OPERATIONS,
  ...FORK_OPERATIONS,
  ...GENERATE_OPERATIONS,
  ...GIT_OBJECT_OPERATIONS,
  ...GPG_KEY_OPERATIONS,
  ...ISSUE_ATTACHMENT_OPERATIONS,
  ...ISSUE_FILE_OPERATIONS,
  ...ISSUE_LABEL_OPERATIONS,
  ...ISSUE_LOCK_OPERATIONS,
  ...ISSUE_OPERATIONS,
  ...ISSUE_SEARCH_OPERATIONS,
  ...ISSUE_SUBSCRIPTION_OPERATIONS,
  ...LABEL_OPERATIONS,
  ...LANGUAGE_OPERATIONS,
  ...MARKUP_OPERATIONS,
  ...MIGRATION_OPERATIONS,
  ...MILESTONE_OPERATIONS,
  ...NODE_INFO_OPERATIONS,
  ...NOTIFICATION_OPERATIONS,
  ...OAUTH_APPLICATION_OPERATIONS,
  ...ORGANIZATION_HOOK_OPERATIONS,
  ...ORGANIZATION_LABEL_OPERATIONS,
  ...ORGANIZATION_MEMBER_OPERATIONS,
  ...ORGANIZATION_OPERATIONS,
  ...PACKAGE_DOWNLOAD_OPERATIONS,
  ...CLEANUP_RULE_OPERATIONS,
  ...PACKAGE_SETTING_OPERATIONS,
  ...PACKAGE_OPERATIONS,
  ...PIN_OPERATIONS,
  ...PRUNE_OPERATIONS,
  ...PULL_CONTENT_OPERATIONS,
  ...PULL_MERGE_OPERATIONS,
  ...PULL_REQUEST_OPERATIONS,
  ...PUSH_MIRROR_OPERATIONS,
  ...RAW_OPERATIONS,
  ...REACTION_OPERATIONS,
  ...RELEASE_ATTACHMENT_OPERATIONS,
  ...RELEASE_OPERATIONS,
  ...REPOSITORY_LICENSE_OPERATIONS,
  ...REPOSITORY_HOOK_OPERATIONS,
  ...REPOSITORY_LIST_OPERATIONS,
  ...REPOSITORY_OPERATIONS,
  ...REPOSITORY_TEAM_OPERATIONS,
  ...REVIEW_OPERATIONS,
  ...REVIEW_DISMISSAL_OPERATIONS,
  ...REVIEW_REQUEST_OPERATIONS,
  ...RERUN_OPERATIONS,
  ...RUN_JOB_OPERATIONS,
  ...RUN_LIST_OPERATIONS,
  ...ARTIFACT_OPERATIONS,
  ...RUN_OPERATIONS,
  ...RUNNER_OPERATIONS,
  ...SETTING_OPERATIONS,
  ...SITE_HOOK_OPERATIONS,
  ...STAR_OPERATIONS,
  ...STOPWATCH_OPERATIONS,
  ...TAG_CHANGE_OPERATIONS,
  ...TAG_PROTECTION_OPERATIONS,
  ...TAG_READING_OPERATIONS,
  ...TEAM_CONTENT_OPERATIONS,
  ...TEAM_OPERATIONS,
  ...TEMPLATE_OPERATIONS,
  ...TIMELINE_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...TOPIC_OPERATIONS,
  ...TRACKED_TIME_OPERATIONS,
  ...TRANSFER_OPERATIONS,
  ...USER_HOOK_OPERATIONS,
  ...USER_KEY_OPERATIONS,
  ...USER_OPERATIONS,
  ...USER_SETTING_OPERATIONS,
  ...VERSION_OPERATIONS,
  ...WATCH_OPERATIONS,
  ...WIKI_OPERATIONS,
  ...WORKFLOW_OPERATIONS,
]
