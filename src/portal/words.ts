import { LANGUAGES, type Language } from '../languages.ts'

// Every text of the portal, in each of its languages. `{name}` is replaced by a value.

const en = {
  title: 'Affiliate portal',
  skip: 'Skip to the content',
  sign_in: 'Sign in',
  sign_in_lead: 'Sign in with the passkey that you registered: the screen lock of your device.',
  sign_in_button: 'Sign in with a passkey',
  sign_out: 'Sign out',
  signed_out: 'You are signed out.',
  lost: 'No passkey here, or a new device? Ask {account} for a new invitation.',
  no_passkeys:
    'Passkeys need JavaScript and a current browser. Allow JavaScript, or open this page in another browser.',
  cancelled: 'The device gave no passkey. Try again.',
  refused:
    'This passkey is not registered here, or it was refused. Ask {account} for a new invitation.',
  expired: 'This page was open for too long. Try again.',
  wait: 'Too many attempts. Try again in {seconds} seconds.',
  suspended: '{account} has suspended your access. What you earned stays yours. Ask them why.',
  invitation: 'Invitation',
  invitation_lead: 'Open your invitation.',
  invitation_open: 'Open the invitation',
  invitation_used:
    'This invitation was used already, or it has ended. Ask {account} for a new one.',
  invited: '{account} invites you to see what the affiliate {affiliate} earns.',
  invited_again: 'Welcome back, {name}. Your earlier passkeys stop working with this one.',
  register_lead:
    'Your device makes a passkey: from then on you sign in with its screen lock. There is no password.',
  your_name: 'Your name',
  register_button: 'Create a passkey',
  overview: 'Overview',
  statements: 'Statements',
  customers: 'Customers',
  passkeys: 'Passkeys',
  plans: 'How you are paid',
  no_plan: 'No plan applies to you yet. Ask {account}.',
  plan_from: '{plan}, from {day} on',
  passkey_name: 'Name of the passkey',
  passkey_added: 'Registered',
  passkey_used: 'Last used',
  passkey_here: 'You are signed in with it.',
  passkey_add: 'Add another passkey',
  passkey_add_lead: 'So that you can sign in on another device, or if you lose this one.',
  passkey_remove: 'Remove',
  passkey_last: 'This is your only passkey, so it cannot be removed. Add another one first.',
  passkey_is_added: 'The passkey is added.',
  passkey_is_removed: 'The passkey is removed. Whoever was signed in with it is signed out.',
  not_found: 'This page does not exist',
  failed: 'This did not work',
  try_again: 'Try again',
  other_session: 'This form belongs to another session. Open the page again.',
  first_passkey: 'Passkey 1',
}

/** The texts of the portal. */
export type Words = Readonly<Record<keyof typeof en, string>>

const de: Words = {
  title: 'Affiliate-Portal',
  skip: 'Zum Inhalt springen',
  sign_in: 'Anmelden',
  sign_in_lead: 'Melden Sie sich mit Ihrem Passkey an: mit der Bildschirmsperre Ihres Geräts.',
  sign_in_button: 'Mit Passkey anmelden',
  sign_out: 'Abmelden',
  signed_out: 'Sie sind abgemeldet.',
  lost: 'Kein Passkey auf diesem Gerät? Bitten Sie {account} um eine neue Einladung.',
  no_passkeys:
    'Passkeys brauchen JavaScript und einen aktuellen Browser. Erlauben Sie JavaScript, oder öffnen Sie die Seite in einem anderen Browser.',
  cancelled: 'Das Gerät hat keinen Passkey übergeben. Versuchen Sie es noch einmal.',
  refused:
    'Dieser Passkey ist hier nicht registriert oder wurde abgelehnt. Bitten Sie {account} um eine neue Einladung.',
  expired: 'Die Seite war zu lange offen. Versuchen Sie es noch einmal.',
  wait: 'Zu viele Versuche. Versuchen Sie es in {seconds} Sekunden noch einmal.',
  suspended:
    '{account} hat Ihren Zugang gesperrt. Was Sie verdient haben, bleibt Ihnen. Fragen Sie dort nach dem Grund.',
  invitation: 'Einladung',
  invitation_lead: 'Öffnen Sie Ihre Einladung.',
  invitation_open: 'Einladung öffnen',
  invitation_used:
    'Diese Einladung wurde schon benutzt oder ist abgelaufen. Bitten Sie {account} um eine neue.',
  invited: '{account} lädt Sie ein zu sehen, was der Affiliate {affiliate} verdient.',
  invited_again:
    'Willkommen zurück, {name}. Mit diesem Passkey verlieren Ihre früheren ihre Gültigkeit.',
  register_lead:
    'Ihr Gerät erzeugt einen Passkey: Danach melden Sie sich mit der Bildschirmsperre an. Es gibt kein Passwort.',
  your_name: 'Ihr Name',
  register_button: 'Passkey erzeugen',
  overview: 'Übersicht',
  statements: 'Abrechnungen',
  customers: 'Kunden',
  passkeys: 'Passkeys',
  plans: 'Wie Sie bezahlt werden',
  no_plan: 'Für Sie gilt noch kein Plan. Fragen Sie {account}.',
  plan_from: '{plan}, ab {day}',
  passkey_name: 'Name des Passkeys',
  passkey_added: 'Registriert',
  passkey_used: 'Zuletzt benutzt',
  passkey_here: 'Mit ihm sind Sie angemeldet.',
  passkey_add: 'Weiteren Passkey hinzufügen',
  passkey_add_lead:
    'Damit Sie sich auf einem anderen Gerät anmelden können, oder falls Sie dieses verlieren.',
  passkey_remove: 'Entfernen',
  passkey_last:
    'Das ist Ihr einziger Passkey, deshalb kann er nicht entfernt werden. Fügen Sie zuerst einen weiteren hinzu.',
  passkey_is_added: 'Der Passkey ist hinzugefügt.',
  passkey_is_removed: 'Der Passkey ist entfernt. Wer mit ihm angemeldet war, ist abgemeldet.',
  not_found: 'Diese Seite gibt es nicht',
  failed: 'Das hat nicht geklappt',
  try_again: 'Noch einmal versuchen',
  other_session: 'Dieses Formular gehört zu einer anderen Sitzung. Öffnen Sie die Seite neu.',
  first_passkey: 'Passkey 1',
}

const es: Words = {
  title: 'Portal de afiliados',
  skip: 'Ir al contenido',
  sign_in: 'Iniciar sesión',
  sign_in_lead: 'Inicie sesión con su llave de acceso: el bloqueo de pantalla de su dispositivo.',
  sign_in_button: 'Iniciar sesión con llave de acceso',
  sign_out: 'Cerrar sesión',
  signed_out: 'Ha cerrado la sesión.',
  lost: '¿No tiene llave de acceso en este dispositivo? Pida a {account} una nueva invitación.',
  no_passkeys:
    'Las llaves de acceso necesitan JavaScript y un navegador actual. Permita JavaScript o abra esta página en otro navegador.',
  cancelled: 'El dispositivo no entregó ninguna llave de acceso. Inténtelo de nuevo.',
  refused:
    'Esta llave de acceso no está registrada aquí o fue rechazada. Pida a {account} una nueva invitación.',
  expired: 'La página estuvo abierta demasiado tiempo. Inténtelo de nuevo.',
  wait: 'Demasiados intentos. Inténtelo de nuevo en {seconds} segundos.',
  suspended:
    '{account} ha suspendido su acceso. Lo que ha ganado sigue siendo suyo. Pregúnteles el motivo.',
  invitation: 'Invitación',
  invitation_lead: 'Abra su invitación.',
  invitation_open: 'Abrir la invitación',
  invitation_used: 'Esta invitación ya se usó o ha caducado. Pida a {account} una nueva.',
  invited: '{account} le invita a ver lo que gana el afiliado {affiliate}.',
  invited_again: 'Bienvenido de nuevo, {name}. Con esta llave dejan de funcionar las anteriores.',
  register_lead:
    'Su dispositivo crea una llave de acceso: después iniciará sesión con el bloqueo de pantalla. No hay contraseña.',
  your_name: 'Su nombre',
  register_button: 'Crear una llave de acceso',
  overview: 'Resumen',
  statements: 'Liquidaciones',
  customers: 'Clientes',
  passkeys: 'Llaves de acceso',
  plans: 'Cómo se le paga',
  no_plan: 'Todavía no se le aplica ningún plan. Pregunte a {account}.',
  plan_from: '{plan}, desde el {day}',
  passkey_name: 'Nombre de la llave',
  passkey_added: 'Registrada',
  passkey_used: 'Último uso',
  passkey_here: 'Ha iniciado sesión con ella.',
  passkey_add: 'Añadir otra llave de acceso',
  passkey_add_lead: 'Para iniciar sesión en otro dispositivo, o por si pierde este.',
  passkey_remove: 'Quitar',
  passkey_last: 'Es su única llave de acceso y no se puede quitar. Añada otra primero.',
  passkey_is_added: 'La llave de acceso está añadida.',
  passkey_is_removed: 'La llave de acceso está quitada. Se cerró la sesión de quien la usaba.',
  not_found: 'Esta página no existe',
  failed: 'No ha funcionado',
  try_again: 'Intentar de nuevo',
  other_session: 'Este formulario pertenece a otra sesión. Abra la página de nuevo.',
  first_passkey: 'Llave 1',
}

const pt: Words = {
  title: 'Portal de afiliados',
  skip: 'Ir para o conteúdo',
  sign_in: 'Entrar',
  sign_in_lead: 'Entre com a sua chave de acesso: o bloqueio de ecrã do seu dispositivo.',
  sign_in_button: 'Entrar com chave de acesso',
  sign_out: 'Sair',
  signed_out: 'Saiu da sessão.',
  lost: 'Não tem chave de acesso neste dispositivo? Peça a {account} um novo convite.',
  no_passkeys:
    'As chaves de acesso precisam de JavaScript e de um navegador atual. Permita JavaScript ou abra esta página noutro navegador.',
  cancelled: 'O dispositivo não entregou nenhuma chave de acesso. Tente de novo.',
  refused:
    'Esta chave de acesso não está registada aqui ou foi recusada. Peça a {account} um novo convite.',
  expired: 'A página esteve aberta demasiado tempo. Tente de novo.',
  wait: 'Demasiadas tentativas. Tente de novo dentro de {seconds} segundos.',
  suspended:
    '{account} suspendeu o seu acesso. O que ganhou continua a ser seu. Pergunte-lhes o motivo.',
  invitation: 'Convite',
  invitation_lead: 'Abra o seu convite.',
  invitation_open: 'Abrir o convite',
  invitation_used: 'Este convite já foi usado ou terminou. Peça a {account} um novo.',
  invited: '{account} convida-o a ver o que ganha o afiliado {affiliate}.',
  invited_again: 'Bem-vindo de volta, {name}. Com esta chave, as anteriores deixam de funcionar.',
  register_lead:
    'O seu dispositivo cria uma chave de acesso: depois entra com o bloqueio de ecrã. Não há palavra-passe.',
  your_name: 'O seu nome',
  register_button: 'Criar uma chave de acesso',
  overview: 'Resumo',
  statements: 'Extratos',
  customers: 'Clientes',
  passkeys: 'Chaves de acesso',
  plans: 'Como é pago',
  no_plan: 'Ainda não se aplica nenhum plano. Pergunte a {account}.',
  plan_from: '{plan}, a partir de {day}',
  passkey_name: 'Nome da chave',
  passkey_added: 'Registada',
  passkey_used: 'Última utilização',
  passkey_here: 'Entrou com ela.',
  passkey_add: 'Adicionar outra chave de acesso',
  passkey_add_lead: 'Para entrar noutro dispositivo, ou se perder este.',
  passkey_remove: 'Remover',
  passkey_last: 'É a sua única chave de acesso e não pode ser removida. Adicione outra primeiro.',
  passkey_is_added: 'A chave de acesso foi adicionada.',
  passkey_is_removed: 'A chave de acesso foi removida. Quem tinha entrado com ela saiu da sessão.',
  not_found: 'Esta página não existe',
  failed: 'Não funcionou',
  try_again: 'Tentar de novo',
  other_session: 'Este formulário pertence a outra sessão. Abra a página de novo.',
  first_passkey: 'Chave 1',
}

/** The texts of the portal by language. */
export const WORDS: Readonly<Record<Language, Words>> = { en, de, es, pt }

/** Returns the language that a browser prefers (RFC 9110 §12.5.4); English if the portal has none of them. */
export function preferredLanguage(accepted: string | undefined): Language {
  const ranked = (accepted ?? '').split(',').map((part) => {
    const [tag = '', q = ''] = part.trim().split(/;\s*q=/)
    return { tag: tag.slice(0, 2).toLowerCase(), weight: q === '' ? 1 : Number(q) }
  })
  const known = ranked.toSorted((a, b) => b.weight - a.weight).map(({ tag }) => tag)
  for (const tag of known) {
    const language = LANGUAGES.find((one) => one === tag)
    if (language) return language
  }
  return 'en'
}

/** Returns a text with its values. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
