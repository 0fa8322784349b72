// Starts `symbolon lsp` and shows the library's modules, which are in no file.
import * as vscode from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    const settings = vscode.workspace.getConfiguration('symbolon');
    const command = settings.get<string>('command', 'symbolon');
    client = new LanguageClient(
        'symbolon',
        'Symbolon',
        { command, args: ['lsp'], transport: TransportKind.stdio },
        {
            documentSelector: [
                { scheme: 'file', language: 'sym' },
                { scheme: 'untitled', language: 'sym' },
            ],
            initializationOptions: {
                constants: settings.get('constants', {}),
                parties: settings.get('parties', null),
                librarySources: true,
            },
            synchronize: { configurationSection: 'symbolon' },
        },
    );
    const library: vscode.TextDocumentContentProvider = {
        provideTextDocumentContent: (uri) =>
            client?.sendRequest<string | null>('symbolon/source', { uri: uri.toString(true) }),
    };
    context.subscriptions.push(
        vscode.workspace.registerTextDocumentContentProvider('symbolon-std', library),
    );
    await client.start();
}

export async function deactivate(): Promise<void> {
    await client?.stop();
}
