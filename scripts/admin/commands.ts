import type { Command } from './command.ts'
import { ACCOUNTS } from './commands/accounts.ts'
import { AFFILIATES } from './commands/affiliates.ts'
import { CREDENTIALS } from './commands/credentials.ts'
import { CUSTOMERS } from './commands/customers.ts'
import { DESK } from './commands/desk.ts'
import { EVENTS } from './commands/events.ts'
import { LINKS } from './commands/links.ts'
import { VOCABULARY } from './commands/vocabulary.ts'

/** All commands, in the order in which help shows them: another one is another value. */
export const COMMANDS: readonly Command[] = [
  ...ACCOUNTS,
  ...CREDENTIALS,
  ...AFFILIATES,
  ...EVENTS,
  ...VOCABULARY,
  ...LINKS,
  ...CUSTOMERS,
  ...DESK,
]
