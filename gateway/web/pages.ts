/** The list of the pages: another page is a file and a line here. */

import type { AnyRoute } from '../route.js'
import { APPLICATIONS_PAGES } from './applications.js'
import { ASSET_ROUTES } from './assets.js'
import { CHANGE_PASSWORD_PAGES } from './change-password.js'
import { CODE_PAGES } from './code-page.js'
import { COLLABORATION_PAGES } from './collaboration-page.js'
import { COMMIT_PAGES } from './commit-page.js'
import { COMMITS_PAGES } from './commits-page.js'
import { COMPARE_PAGES } from './compare-page.js'
import { CREATE_REPOSITORY_PAGES } from './create-repository.js'
import { DEPLOY_KEYS_PAGES } from './deploy-keys-page.js'
import { HOME } from './home.js'
import { HOOK_PAGES } from './hook-page.js'
import { HOOKS_PAGES } from './hooks-page.js'
import { ISSUE_PAGES } from './issue-page.js'
import { ISSUES_PAGE } from './issues-page.js'
import { KEY_PAGES } from './keys.js'
import { NEW_ISSUE_PAGES } from './new-issue.js'
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
import { SESSION_PAGES } from './sessions.js'
import { SET_UP_PAGES } from './set-up.js'
import { SIGN_IN_PAGES } from './sign-in.js'
import { SIGN_UP_PAGES } from './sign-up.js'
import { TWO_FACTOR_PAGES } from './two-factor.js'

export const WEB_ROUTES: readonly AnyRoute[] = [
  HOME,
  OWNER,
  ...[ASSET_ROUTES, SIGN_IN_PAGES, APPLICATIONS_PAGES, CREATE_REPOSITORY_PAGES].flat(),
  ...TWO_FACTOR_PAGES,
  ...SECURITY_PAGES,
  ...SET_UP_PAGES,
  ...SIGN_UP_PAGES,
  ...[CODE_PAGES, COMMITS_PAGES, COMMIT_PAGES, REFERENCES_PAGES, PACKAGES_PAGES].flat(),
  ...REPOSITORY_SETTINGS_PAGES,
  ...COLLABORATION_PAGES,
  ...DEPLOY_KEYS_PAGES,
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
  ...[PULL_PAGES, PULL_CONTENTS_PAGES, COMPARE_PAGES].flat(),
  ...RELEASES_PAGES,
]
