/** The list of all operations that the API serves: a new resource is one file and one line. */

import type { AnyOperation } from '../operation.js'
import { ADMIN_BELONGING_OPERATIONS } from './admin-belongings.js'
import { ADMIN_USER_OPERATIONS } from './admin-users.js'
import { ASSIGNEE_OPERATIONS } from './assignees.js'
import { BRANCH_CHANGE_OPERATIONS } from './branch-changes.js'
import { BRANCH_PROTECTION_OPERATIONS } from './branch-protections.js'
import { COLLABORATOR_OPERATIONS } from './collaborators.js'
import { COMMENT_OPERATIONS } from './comments.js'
import { COMMIT_STATUS_OPERATIONS } from './commit-statuses.js'
import { COMPARE_OPERATIONS } from './compare.js'
import { DEPLOY_KEY_OPERATIONS } from './deploy-keys.js'
import { FILE_CHANGE_OPERATIONS } from './file-changes.js'
import { FORK_OPERATIONS } from './forks.js'
import { GENERATE_OPERATIONS } from './generate.js'
import { ARCHIVE_OPERATIONS } from './get-archives.js'
import { BRANCH_READING_OPERATIONS } from './get-branches.js'
import { COMMIT_READING_OPERATIONS } from './get-commits.js'
import { CONTENTS_READING_OPERATIONS } from './get-contents.js'
import { RAW_OPERATIONS } from './get-raw.js'
import { TAG_READING_OPERATIONS } from './get-tags.js'
import { GIT_OBJECT_OPERATIONS } from './git-objects.js'
import { ISSUE_LABEL_OPERATIONS } from './issue-labels.js'
import { ISSUE_LOCK_OPERATIONS } from './issue-locks.js'
import { ISSUE_SEARCH_OPERATIONS } from './issue-search.js'
import { ISSUE_SUBSCRIPTION_OPERATIONS } from './issue-subscriptions.js'
import { ISSUE_OPERATIONS } from './issues.js'
import { LABEL_OPERATIONS } from './labels.js'
import { LANGUAGE_OPERATIONS } from './languages.js'
import { MIGRATION_OPERATIONS } from './migrations.js'
import { MILESTONE_OPERATIONS } from './milestones.js'
import { NOTIFICATION_OPERATIONS } from './notifications.js'
import { OAUTH_APPLICATION_OPERATIONS } from './oauth-applications.js'
import { ORGANIZATION_HOOK_OPERATIONS } from './organization-hooks.js'
import { ORGANIZATION_LABEL_OPERATIONS } from './organization-labels.js'
import { ORGANIZATION_MEMBER_OPERATIONS } from './organization-members.js'
import { ORGANIZATION_OPERATIONS } from './organizations.js'
import { PACKAGE_OPERATIONS } from './packages.js'
import { PRUNE_OPERATIONS } from './prune.js'
import { PULL_CONTENT_OPERATIONS } from './pull-contents.js'
import { PULL_MERGE_OPERATIONS } from './pull-merge.js'
import { PULL_REQUEST_OPERATIONS } from './pull-requests.js'
import { REACTION_OPERATIONS } from './reactions.js'
import { RELEASE_ATTACHMENT_OPERATIONS } from './release-attachments.js'
import { RELEASE_OPERATIONS } from './releases.js'
import { REPOSITORY_OPERATIONS } from './repositories.js'
import { REPOSITORY_HOOK_OPERATIONS } from './repository-hooks.js'
import { REPOSITORY_LIST_OPERATIONS } from './repository-lists.js'
import { REVIEW_REQUEST_OPERATIONS } from './review-requests.js'
import { REVIEW_OPERATIONS } from './reviews.js'
import { SETTING_OPERATIONS } from './settings.js'
import { STAR_OPERATIONS } from './stars.js'
import { TAG_CHANGE_OPERATIONS } from './tag-changes.js'
import { TEAM_CONTENT_OPERATIONS } from './team-contents.js'
import { TEAM_OPERATIONS } from './teams.js'
import { TOKEN_OPERATIONS } from './tokens.js'
import { TOPIC_OPERATIONS } from './topics.js'
import { USER_HOOK_OPERATIONS } from './user-hooks.js'
import { USER_KEY_OPERATIONS } from './user-keys.js'
import { USER_SETTING_OPERATIONS } from './user-settings.js'
import { USER_OPERATIONS } from './users.js'
import { VERSION_OPERATIONS } from './version.js'
import { WATCH_OPERATIONS } from './watches.js'

export const OPERATIONS: readonly AnyOperation[] = [
  ...ADMIN_BELONGING_OPERATIONS,
  ...ADMIN_USER_OPERATIONS,
  ...ARCHIVE_OPERATIONS,
  ...ASSIGNEE_OPERATIONS,
  ...BRANCH_CHANGE_OPERATIONS,
  ...BRANCH_PROTECTION_OPERATIONS,
  ...BRANCH_READING_OPERATIONS,
  ...COLLABORATOR_OPERATIONS,
  ...COMMENT_OPERATIONS,
  ...COMMIT_READING_OPERATIONS,
  ...COMMIT_STATUS_OPERATIONS,
  ...COMPARE_OPERATIONS,
  ...CONTENTS_READING_OPERATIONS,
  ...DEPLOY_KEY_OPERATIONS,
  ...FILE_CHANGE_OPERATIONS,
  ...FORK_OPERATIONS,
  ...GENERATE_OPERATIONS,
  ...GIT_OBJECT_OPERATIONS,
  ...ISSUE_LABEL_OPERATIONS,
  ...ISSUE_LOCK_OPERATIONS,
  ...ISSUE_OPERATIONS,
  ...ISSUE_SEARCH_OPERATIONS,
  ...ISSUE_SUBSCRIPTION_OPERATIONS,
  ...LABEL_OPERATIONS,
  ...LANGUAGE_OPERATIONS,
  ...MIGRATION_OPERATIONS,
  ...MILESTONE_OPERATIONS,
  ...NOTIFICATION_OPERATIONS,
  ...OAUTH_APPLICATION_OPERATIONS,
  ...ORGANIZATION_HOOK_OPERATIONS,
  ...ORGANIZATION_LABEL_OPERATIONS,
  ...ORGANIZATION_MEMBER_OPERATIONS,
  ...ORGANIZATION_OPERATIONS,
  ...PACKAGE_OPERATIONS,
  ...PRUNE_OPERATIONS,
  ...PULL_CONTENT_OPERATIONS,
  ...PULL_MERGE_OPERATIONS,
  ...PULL_REQUEST_OPERATIONS,
  ...RAW_OPERATIONS,
  ...REACTION_OPERATIONS,
  ...RELEASE_ATTACHMENT_OPERATIONS,
  ...RELEASE_OPERATIONS,
  ...REPOSITORY_HOOK_OPERATIONS,
  ...REPOSITORY_LIST_OPERATIONS,
  ...REPOSITORY_OPERATIONS,
  ...REVIEW_OPERATIONS,
  ...REVIEW_REQUEST_OPERATIONS,
  ...SETTING_OPERATIONS,
  ...STAR_OPERATIONS,
  ...TAG_CHANGE_OPERATIONS,
  ...TAG_READING_OPERATIONS,
  ...TEAM_CONTENT_OPERATIONS,
  ...TEAM_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...TOPIC_OPERATIONS,
  ...USER_HOOK_OPERATIONS,
  ...USER_KEY_OPERATIONS,
  ...USER_OPERATIONS,
  ...USER_SETTING_OPERATIONS,
  ...VERSION_OPERATIONS,
  ...WATCH_OPERATIONS,
]
