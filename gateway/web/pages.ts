/** List of all pages; a new page is a file and a line here. */

import type { AnyRoute } from '../request/route.js'
import { APPLICATIONS_PAGES } from './accounts/applications.js'
import { AUTHORIZE_PAGES } from './accounts/authorize-page.js'
import { CHANGE_PASSWORD_PAGES } from './accounts/change-password.js'
import { GPG_KEY_PAGES } from './accounts/gpg-keys.js'
import { KEY_PAGES } from './accounts/keys.js'
import { OAUTH_APPLICATIONS_PAGES } from './accounts/oauth-applications.js'
import { OWN_BLOCKS_PAGES } from './accounts/own-blocks.js'
import { PROFILE_PAGES } from './accounts/profile.js'
import { PUBLIC_KEYS } from './accounts/public-keys.js'
import { SECURITY_PAGES } from './accounts/security.js'
import { SECURITY_KEY_PAGES } from './accounts/security-key-pages.js'
import { SESSION_PAGES } from './accounts/sessions.js'
import { SET_UP_PAGES } from './accounts/set-up.js'
import { SIGN_IN_PAGES } from './accounts/sign-in.js'
import { SIGN_UP_PAGES } from './accounts/sign-up.js'
import { TWO_FACTOR_PAGES } from './accounts/two-factor.js'
import { ADMIN_CACHE_PAGES } from './admin/admin-cache.js'
import { ADMIN_JOBS_PAGES } from './admin/admin-jobs.js'
import { ADMIN_SETTINGS_PAGES } from './admin/admin-settings.js'
import { ADMIN_USER_PAGES } from './admin/admin-user.js'
import { ADMIN_USERS_PAGES } from './admin/admin-users.js'
import { AUDIT_PAGES } from './admin/audit-pages.js'
import { ASSET_ROUTES } from './assets.js'
import { CODE_PAGES } from './code/code-page.js'
import { COMMIT_PAGES } from './code/commit-page.js'
import { COMMITS_PAGES } from './code/commits-page.js'
import { COMPARE_PAGES } from './code/compare-page.js'
import { REFERENCES_PAGES } from './code/references-page.js'
import { ISSUE_PAGES } from './issues/issue-page.js'
import { ISSUE_TOOL_PAGES } from './issues/issue-tool-pages.js'
import { ISSUES_PAGE } from './issues/issues-page.js'
import { NEW_ISSUE_PAGES } from './issues/new-issue.js'
import { CREATE_ORGANIZATION_PAGES } from './organizations/create-organization.js'
import { MEMBERS_PAGES } from './organizations/members-page.js'
import { ORGANIZATION_BLOCKS_PAGES } from './organizations/organization-blocks.js'
import { ORGANIZATION_SETTINGS_PAGES } from './organizations/organization-settings.js'
import { OWN_ORGANIZATIONS } from './organizations/own-organizations.js'
import { TEAM_PAGES } from './organizations/team-page.js'
import { TEAM_SETTINGS_PAGES } from './organizations/team-settings.js'
import { TEAMS_PAGES } from './organizations/teams-page.js'
import { CLEANUP_RULE_PAGES } from './packages/cleanup-rule-page.js'
import { PACKAGE_SETTINGS_PAGES } from './packages/package-settings-page.js'
import { PACKAGES_PAGES } from './packages/packages-page.js'
import { REPOSITORY_PACKAGES_PAGES } from './packages/repository-packages-page.js'
import { PACKAGE_VERSION_PAGES } from './packages/version-page.js'
import { PULL_CONTENTS_PAGES } from './pulls/pull-contents.js'
import { PULL_PAGES } from './pulls/pull-page.js'
import { PULLS_PAGE } from './pulls/pulls-page.js'
import { RELEASES_PAGES } from './releases/releases-page.js'
import { COLLABORATION_PAGES } from './repositories/collaboration-page.js'
import { CREATE_REPOSITORY_PAGES } from './repositories/create-repository.js'
import { DEPLOY_KEYS_PAGES } from './repositories/deploy-keys-page.js'
import { HOME } from './repositories/home.js'
import { OWNER } from './repositories/owner.js'
import { REPOSITORY_SETTINGS_PAGES } from './repositories/repository-settings.js'
import { TRANSFER_PAGES } from './repositories/transfer-notice.js'
import { RUNNERS_PAGES } from './runners/runners-pages.js'
import { BADGE_PAGES } from './runs/badge.js'
import { DISPATCH_PAGES } from './runs/dispatch-page.js'
import { JOB_PAGES } from './runs/job-page.js'
import { RERUN_PAGES } from './runs/rerun-pages.js'
import { RUN_PAGES } from './runs/run-page.js'
import { RUNS_PAGES } from './runs/runs-page.js'
import { VALUES_PAGES } from './runs/values-pages.js'
import { REPOSITORY_HOOK_PAGES } from './webhooks/repository-webhooks.js'
import { SITE_HOOK_PAGES } from './webhooks/site-webhooks.js'
import { EDIT_WIKI_PAGES } from './wiki/edit-wiki.js'
import { WIKI_DIFF_PAGE } from './wiki/wiki-diff.js'
import { WIKI_PAGES } from './wiki/wiki-page.js'

export const WEB_ROUTES: readonly AnyRoute[] = [
  HOME,
  OWNER,
  ...AUTHORIZE_PAGES,
  ...OAUTH_APPLICATIONS_PAGES,
  ...ASSET_ROUTES,
  ...SIGN_IN_PAGES,
  ...APPLICATIONS_PAGES,
  ...CREATE_REPOSITORY_PAGES,
  ...TWO_FACTOR_PAGES,
  ...SECURITY_PAGES,
  ...SECURITY_KEY_PAGES,
  ...SET_UP_PAGES,
  ...SIGN_UP_PAGES,
  ...ADMIN_USERS_PAGES,
  ...ADMIN_USER_PAGES,
  ...ADMIN_SETTINGS_PAGES,
  ...ADMIN_JOBS_PAGES,
  ...ADMIN_CACHE_PAGES,
  ...AUDIT_PAGES,
  ...CODE_PAGES,
  ...COMMITS_PAGES,
  ...COMMIT_PAGES,
  ...REFERENCES_PAGES,
  ...PACKAGE_SETTINGS_PAGES,
  ...CLEANUP_RULE_PAGES,
  ...PACKAGES_PAGES,
  ...PACKAGE_VERSION_PAGES,
  ...REPOSITORY_PACKAGES_PAGES,
  ...PROFILE_PAGES,
  ...CHANGE_PASSWORD_PAGES,
  ...KEY_PAGES,
  ...GPG_KEY_PAGES,
  ...OWN_BLOCKS_PAGES,
  PUBLIC_KEYS,
  ...SESSION_PAGES,
  ...REPOSITORY_HOOK_PAGES,
  ...SITE_HOOK_PAGES,
  ISSUES_PAGE,
  ...ISSUE_PAGES,
  ...ISSUE_TOOL_PAGES,
  ...NEW_ISSUE_PAGES,
  PULLS_PAGE,
  ...PULL_PAGES,
  ...PULL_CONTENTS_PAGES,
  ...COMPARE_PAGES,
  ...RELEASES_PAGES,
  ...EDIT_WIKI_PAGES,
  ...WIKI_PAGES,
  WIKI_DIFF_PAGE,
  ...RUNS_PAGES,
  ...RERUN_PAGES,
  ...RUN_PAGES,
  ...JOB_PAGES,
  ...RUNNERS_PAGES,
  ...DISPATCH_PAGES,
  ...BADGE_PAGES,
  ...VALUES_PAGES,
  OWN_ORGANIZATIONS,
  ...CREATE_ORGANIZATION_PAGES,
  ...MEMBERS_PAGES,
  ...TEAMS_PAGES,
  ...TEAM_PAGES,
  ...TEAM_SETTINGS_PAGES,
  ...ORGANIZATION_SETTINGS_PAGES,
  ...ORGANIZATION_BLOCKS_PAGES,
  ...REPOSITORY_SETTINGS_PAGES,
  ...TRANSFER_PAGES,
  ...COLLABORATION_PAGES,
  ...DEPLOY_KEYS_PAGES,
]
