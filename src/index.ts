export { app as default } from './app.ts'
export { ClientGate } from './auth/client-gate.ts'
export { TokenGate } from './auth/token-gate.ts'
