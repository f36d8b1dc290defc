/** The list of the pages: another page is a file and a line here. */

import type { AnyRoute } from '../route.js'
import { ADMIN_CACHE_PAGES } from './admin-cache.js'
import { ADMIN_JOBS_PAGES } from './admin-jobs.js'
import { ADMIN_SETTINGS_PAGES } from './admin-settings.js'
import { ADMIN_USER_PAGES } from './admin-user.js'
import { ADMIN_USERS_PAGES } from './admin-users.js'
import { APPLICATIONS_PAGES } from './applications.js'
import { ASSET_ROUTES } from './assets.js'
import { CODE_PAGES } from './code-page.js'
import { COMMIT_PAGES } from './commit-page.js'
import { COMMITS_PAGES } from './commits-page.js'
import { CREATE_REPOSITORY_PAGES } from './create-repository.js'
import { HOME } from './home.js'
import { OWNER } from './owner.js'
import { PACKAGES_PAGES } from './packages-page.js'
import { REFERENCES_PAGES } from './references-page.js'
import { SET_UP_PAGES } from './set-up.js'
import { SIGN_IN_PAGES } from './sign-in.js'
import { SIGN_UP_PAGES } from './sign-up.js'

export const WEB_ROUTES: readonly AnyRoute[] = [
  HOME,
  OWNER,
  ...[ASSET_ROUTES, SIGN_IN_PAGES, APPLICATIONS_PAGES, CREATE_REPOSITORY_PAGES].flat(),
  ...SET_UP_PAGES,
  ...SIGN_UP_PAGES,
  ...[ADMIN_USERS_PAGES, ADMIN_USER_PAGES, ADMIN_SETTINGS_PAGES].flat(),
  ...[ADMIN_JOBS_PAGES, ADMIN_CACHE_PAGES].flat(),
  ...[CODE_PAGES, COMMITS_PAGES, COMMIT_PAGES, REFERENCES_PAGES, PACKAGES_PAGES].flat(),
]
