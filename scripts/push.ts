import { runPush } from './push/run.ts'

// Sends files of records: `npm run push -- --vertical forex --resource transactions FILE…`.

process.exitCode = await runPush(process.argv.slice(2), {
  env: process.env,
  stderr: process.stderr,
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
})
