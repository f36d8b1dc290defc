/** All commands. Their modules are loaded when they are needed, because most calls need one. */

import type { Command } from './command.js'

/** A module of commands. */
interface CommandModule {
  /** First words of its commands. */
  readonly nouns: readonly string[]
  readonly load: () => Promise<readonly Command[]>
}

/** Modules in the order of the help. */
const MODULES: readonly CommandModule[] = [
  { nouns: ['serve'], load: async () => (await import('./serve.js')).SERVE_COMMANDS },
  { nouns: ['user'], load: async () => (await import('./user.js')).USER_COMMANDS },
  { nouns: ['token'], load: async () => (await import('./token.js')).TOKEN_COMMANDS },
  { nouns: ['repo'], load: async () => (await import('./repo.js')).REPO_COMMANDS },
  { nouns: ['package'], load: async () => (await import('./package.js')).PACKAGE_COMMANDS },
  { nouns: ['webhook'], load: async () => (await import('./webhook.js')).WEBHOOK_COMMANDS },
  { nouns: ['workflow'], load: async () => (await import('./workflow.js')).WORKFLOW_COMMANDS },
  { nouns: ['runner'], load: async () => (await import('./runner.js')).RUNNER_COMMANDS },
  {
    nouns: ['runner'],
    load: async () => (await import('./runner-admin.js')).RUNNER_ADMIN_COMMANDS,
  },
  { nouns: ['ssh'], load: async () => (await import('./ssh.js')).SSH_COMMANDS },
  { nouns: ['db'], load: async () => (await import('./db.js')).DB_COMMANDS },
  { nouns: ['doctor'], load: async () => (await import('./doctor.js')).DOCTOR_COMMANDS },
  { nouns: ['check'], load: async () => (await import('./check.js')).CHECK_COMMANDS },
  {
    nouns: ['backup', 'restore', 'snapshot'],
    load: async () => (await import('./backup.js')).BACKUP_COMMANDS,
  },
]

/** Returns all commands, in the order of the help. */
export function allCommands(): Promise<readonly Command[]> {
  return loadAll(MODULES)
}

/** Returns the commands whose first word is the noun. */
export async function commandsOf(noun: string): Promise<readonly Command[]> {
  const commands = await loadAll(MODULES.filter(({ nouns }) => nouns.includes(noun)))
  return commands.filter(({ words }) => words[0] === noun)
}

async function loadAll(modules: readonly CommandModule[]): Promise<readonly Command[]> {
  return (await Promise.all(modules.map(({ load }) => load()))).flat()
}
