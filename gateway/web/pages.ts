/** The list of the pages: another page is a file and a line here. */

import type { AnyRoute } from '../route.js'
import { ADMIN_CACHE_PAGES } from './admin-cache.js'
import { ADMIN_JOBS_PAGES } from './admin-jobs.js'
import { ADMIN_SETTINGS_PAGES } from './admin-settings.js'
import { ADMIN_USER_PAGES } from './admin-user.js'
import { ADMIN_USERS_PAGES } from './admin-users.js'
import { APPLICATIONS_PAGES } from './applications.js'
import { ASSET_ROUTES } from './assets.js'
import { AUTHORIZE_PAGES } from './authorize-page.js'
import { CHANGE_PASSWORD_PAGES } from './change-password.js'
import { CODE_PAGES } from './code-page.js'
import { COLLABORATION_PAGES } from './collaboration-page.js'
import { COMMIT_PAGES } from './commit-page.js'
import { COMMITS_PAGES } from './commits-page.js'
import { COMPARE_PAGES } from './compare-page.js'
import { CREATE_ORGANIZATION_PAGES } from './create-organization.js'
import { CREATE_REPOSITORY_PAGES } from './create-repository.js'
import { DEPLOY_KEYS_PAGES } from './deploy-keys-page.js'
import { HOME } from './home.js'
import { HOOK_PAGES } from './hook-page.js'
import { HOOKS_PAGES } from './hooks-page.js'
import { ISSUE_PAGES } from './issue-page.js'
import { ISSUES_PAGE } from './issues-page.js'
import { KEY_PAGES } from './keys.js'
import { MEMBERS_PAGES } from './members-page.js'
import { NEW_ISSUE_PAGES } from './new-issue.js'
import { OAUTH_APPLICATIONS_PAGES } from './oauth-applications.js'
import { ORGANIZATION_SETTINGS_PAGES } from './organization-settings.js'
import { OWN_ORGANIZATIONS } from './own-organizations.js'
import { OWNER } from './owner.js'
import { PACKAGES_PAGES } from './packages-page.js'
import { PROFILE_PAGES } from './profile.js'
import { PULL_CONTENTS_PAGES } from './pull-contents.js'
import { PULL_PAGES } from './pull-page.js'
import { PULLS_PAGE } from './pulls-page.js'
import { REFERENCES_PAGES } from './references-page.js'
import { RELEASES_PAGES } from './releases-page.js'
import { REPOSITORY_SETTINGS_PAGES } from './repository-settings.js'
import { SECURITY_PAGES } from './security.js'
import { SECURITY_KEY_PAGES } from './security-key-pages.js'
import { SESSION_PAGES } from './sessions.js'
import { SET_UP_PAGES } from './set-up.js'
import { SIGN_IN_PAGES } from './sign-in.js'
import { SIGN_UP_PAGES } from './sign-up.js'
import { TEAM_PAGES } from './team-page.js'
import { TEAM_SETTINGS_PAGES } from './team-settings.js'
import { TEAMS_PAGES } from './teams-page.js'
import { TWO_FACTOR_PAGES } from './two-factor.js'

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
  ...CODE_PAGES,
  ...COMMITS_PAGES,
  ...COMMIT_PAGES,
  ...REFERENCES_PAGES,
  ...PACKAGES_PAGES,
  ...PROFILE_PAGES,
  ...CHANGE_PASSWORD_PAGES,
  ...KEY_PAGES,
  ...SESSION_PAGES,
  ...HOOKS_PAGES,
  ...HOOK_PAGES,
  ISSUES_PAGE,
  ...ISSUE_PAGES,
  ...NEW_ISSUE_PAGES,
  PULLS_PAGE,
  ...PULL_PAGES,
  ...PULL_CONTENTS_PAGES,
  ...COMPARE_PAGES,
  ...RELEASES_PAGES,
  OWN_ORGANIZATIONS,
  ...CREATE_ORGANIZATION_PAGES,
  ...MEMBERS_PAGES,
  ...TEAMS_PAGES,
  ...TEAM_PAGES,
  ...TEAM_SETTINGS_PAGES,
  ...ORGANIZATION_SETTINGS_PAGES,
  ...REPOSITORY_SETTINGS_PAGES,
  ...COLLABORATION_PAGES,
  ...DEPLOY_KEYS_PAGES,
]
