/** The list of the pages: another page is a file and a line here. */

import type { AnyRoute } from '../route.js'
import { APPLICATIONS_PAGES } from './applications.js'
import { ASSET_ROUTES } from './assets.js'
import { CHANGE_PASSWORD_PAGES } from './change-password.js'
import { CODE_PAGES } from './code-page.js'
import { COLLABORATION_PAGES } from './collaboration-page.js'
import { COMMIT_PAGES } from './commit-page.js'
import { COMMITS_PAGES } from './commits-page.js'
import { CREATE_ORGANIZATION_PAGES } from './create-organization.js'
import { CREATE_REPOSITORY_PAGES } from './create-repository.js'
import { DEPLOY_KEYS_PAGES } from './deploy-keys-page.js'
import { HOME } from './home.js'
import { KEY_PAGES } from './keys.js'
import { MEMBERS_PAGES } from './members-page.js'
import { ORGANIZATION_SETTINGS_PAGES } from './organization-settings.js'
import { OWN_ORGANIZATIONS } from './own-organizations.js'
import { OWNER } from './owner.js'
import { PACKAGES_PAGES } from './packages-page.js'
import { PROFILE_PAGES } from './profile.js'
import { REFERENCES_PAGES } from './references-page.js'
import { REPOSITORY_SETTINGS_PAGES } from './repository-settings.js'
import { SESSION_PAGES } from './sessions.js'
import { SIGN_IN_PAGES } from './sign-in.js'
import { TEAM_PAGES } from './team-page.js'
import { TEAM_SETTINGS_PAGES } from './team-settings.js'
import { TEAMS_PAGES } from './teams-page.js'

export const WEB_ROUTES: readonly AnyRoute[] = [
  HOME,
  OWNER,
  ...[ASSET_ROUTES, SIGN_IN_PAGES, APPLICATIONS_PAGES, CREATE_REPOSITORY_PAGES].flat(),
  ...[CODE_PAGES, COMMITS_PAGES, COMMIT_PAGES, REFERENCES_PAGES, PACKAGES_PAGES].flat(),
  ...PROFILE_PAGES,
  ...CHANGE_PASSWORD_PAGES,
  ...KEY_PAGES,
  ...SESSION_PAGES,
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
