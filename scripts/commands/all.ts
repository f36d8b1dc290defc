/** All commands, in the order of the help. */

import { BACKUP_COMMANDS } from './backup.js'
import { CHECK_COMMANDS } from './check.js'
import type { Command } from './command.js'
import { DB_COMMANDS } from './db.js'
import { DOCTOR_COMMANDS } from './doctor.js'
import { PACKAGE_COMMANDS } from './package.js'
import { REPO_COMMANDS } from './repo.js'
import { RUNNER_COMMANDS } from './runner.js'
import { RUNNER_ADMIN_COMMANDS } from './runner-admin.js'
import { SERVE_COMMANDS } from './serve.js'
import { SSH_COMMANDS } from './ssh.js'
import { TOKEN_COMMANDS } from './token.js'
import { USER_COMMANDS } from './user.js'
import { WEBHOOK_COMMANDS } from './webhook.js'
import { WORKFLOW_COMMANDS } from './workflow.js'

export const COMMANDS: readonly Command[] = [
  ...SERVE_COMMANDS,
  ...USER_COMMANDS,
  ...TOKEN_COMMANDS,
  ...REPO_COMMANDS,
  ...PACKAGE_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...WORKFLOW_COMMANDS,
  ...RUNNER_COMMANDS,
  ...RUNNER_ADMIN_COMMANDS,
  ...SSH_COMMANDS,
  ...DB_COMMANDS,
  ...DOCTOR_COMMANDS,
  ...CHECK_COMMANDS,
  ...BACKUP_COMMANDS,
]
