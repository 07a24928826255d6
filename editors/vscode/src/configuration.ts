// The settings as the server sees them: in folders that are not trusted it runs no other program for their files,
// and tabs are as wide as in the editor.
import * as vscode from "vscode";
import { ConfigurationMiddleware } from "vscode-languageclient/node";

const SECTION = "cyclelens";
const SETTING = "allowExternalPrograms";

/** For the first moment, until the server has asked for the settings. */
export const initializationOptions = () => ({ [SETTING]: vscode.workspace.isTrusted });

export const configuration: ConfigurationMiddleware = {
  configuration: async (params, token, next) => {
    const answer = await next(params, token);
    if (!Array.isArray(answer)) {
      return answer;
    }
    const editor = vscode.workspace.getConfiguration("editor", { languageId: "asm" });
    const tabs = (values: { hints?: { tabSize?: number | null } }) => ({
      hints: { ...values?.hints, tabSize: values?.hints?.tabSize ?? editor.get<number>("tabSize") },
    });
    const programs = vscode.workspace.isTrusted ? {} : { [SETTING]: false };
    return answer.map((values, number) =>
      params.items[number].section === SECTION ? { ...values, ...tabs(values), ...programs } : values,
    );
  },
};
