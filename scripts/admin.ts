import { enableCompileCache } from 'node:module'

// Administers the service: `npm run admin -- accounts list`.

// The operations are several hundred modules, whose types are stripped once for all later commands.
enableCompileCache('node_modules/.cache/tributary-admin')
const { runAdmin } = await import('./admin/run.ts')

process.exitCode = await runAdmin(process.argv.slice(2), {
  env: process.env,
  terminal: { input: process.stdin, output: process.stderr },
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
})
