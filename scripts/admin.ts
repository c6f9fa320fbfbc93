import { escapeText } from '../src/validation/quote.ts'
import { type AdminArguments, knownOptions, readArguments } from './admin/arguments.ts'
import { createClient } from './admin/client.ts'
import { confirm } from './admin/confirm.ts'
import { mayHaveTakenEffect } from './admin/errors.ts'
import { readProfile } from './admin/profile.ts'
import type { SendRequest } from './admin/request.ts'
import { ExitError, messageOf } from './exit-error.ts'
import { rejectSwallowedOptions } from './npm-flags.ts'

// Administers the service: `npm run admin -- accounts list`.

const SAFE_TO_REPEAT = 'Repeat the command: that is safe.'

type Call = Exclude<AdminArguments, { help: string }>

async function administer(call: Call) {
  const { operation, input } = call
  const send = createClient(readProfile(process.env), (text) => console.error(text))
  const confirmation = operation.confirmation?.(input)
  if (confirmation && !input.yes) {
    const { warning, name } = confirmation
    await confirm(escapeText(warning), name, { input: process.stdin, output: process.stderr })
  }
  const body = await execute(send, call)
  // With --json a response without a body prints nothing.
  if (!input.json) console.log(operation.format(body, input))
  else if (body !== undefined) console.log(escapeText(JSON.stringify(body)))
  if (operation.secret) {
    console.error(`Store the ${operation.secret} now: it cannot be shown again.`)
  }
  const note = operation.note?.(body, input)
  if (note) console.error(escapeText(note))
}

async function execute(send: SendRequest, { operation, request, input }: Call) {
  const { run, method, recovery = SAFE_TO_REPEAT } = operation
  try {
    return await (run ? run(send, request, input) : send(request))
  } catch (error) {
    const isUncertain = method !== 'GET' && mayHaveTakenEffect(error)
    if (!isUncertain) throw error
    const message = `${messageOf(error)}\nThe request may have taken effect. ${recovery}`
    throw new ExitError(1, message, error)
  }
}

const args = process.argv.slice(2)
rejectSwallowedOptions('admin', knownOptions(args))
try {
  const call = readArguments(args)
  if ('help' in call) console.log(call.help)
  else await administer(call)
} catch (error) {
  console.error(`admin: ${messageOf(error).split('\n').map(escapeText).join('\n')}`)
  process.exitCode = error instanceof ExitError ? error.exitCode : 1
}
