import { BYTE_ORDER_MARK } from '../../src/platform/money/csv.ts'
import { escapeText } from '../../src/platform/validation/quote.ts'
import { ExitError, messageOf } from '../exit-error.ts'
import { type AdminArguments, readArguments } from './arguments.ts'
import { createClient } from './client.ts'
import { confirm, type Terminal } from './confirm.ts'
import { mayHaveTakenEffect } from './errors.ts'
import { toRequest } from './operation.ts'
import { readProfile } from './profile.ts'
import type { AdminRequest, SendRequest } from './request.ts'

const SAFE_TO_REPEAT = 'Repeat the command: that is safe.'

type Call = Exclude<AdminArguments, { help: string }>

/** What the command uses of its process. */
export interface AdminProcess {
  env: NodeJS.ProcessEnv
  /** Where it asks for confirmation. */
  terminal: Terminal
  /** Print a text and a line feed to stdout and stderr. */
  print: (text: string) => void
  printError: (text: string) => void
}

/** Runs the command and returns its exit code. */
export async function runAdmin(args: readonly string[], on: AdminProcess): Promise<number> {
  try {
    const call = readArguments(args)
    if ('help' in call) on.print(call.help)
    else await administer(call, on)
    return 0
  } catch (error) {
    on.printError(`admin: ${messageOf(error).split('\n').map(escapeText).join('\n')}`)
    return error instanceof ExitError ? error.exitCode : 1
  }
}

async function administer(call: Call, on: AdminProcess) {
  const { env, terminal, print, printError } = on
  const { operation, input } = call
  const request = toRequest(operation, input)
  const send = createClient(readProfile(env), printError)
  if (operation.follow) return operation.follow(send, request, input, print)
  const confirmation = operation.confirmation?.(input)
  if (confirmation && !input.yes) {
    const { warning, name } = confirmation
    await confirm(escapeText(warning), name, terminal)
  }
  const body = await execute(send, call, request, printError)
  // With --json a response without a body prints nothing.
  if (!input.json) print((input.excel ? BYTE_ORDER_MARK : '') + operation.format(body, input))
  else if (body !== undefined) print(escapeText(JSON.stringify(body)))
  if (operation.secret) {
    printError(`Store the ${operation.secret} now: it cannot be shown again.`)
  }
}

async function execute(
  send: SendRequest,
  { operation, input }: Call,
  request: AdminRequest,
  report: (text: string) => void,
) {
  const { run, method, recovery = SAFE_TO_REPEAT } = operation
  try {
    return await (run ? run(send, request, input, report) : send(request))
  } catch (error) {
    const isUncertain = method !== 'GET' && mayHaveTakenEffect(error)
    if (!isUncertain) throw error
    const message = `${messageOf(error)}\nThe request may have taken effect. ${recovery}`
    throw new ExitError(1, message, error)
  }
}
