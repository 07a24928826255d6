import fs from 'node:fs/promises';
import path from 'node:path';

import {CompilationInfo} from '../../types/compilation/compilation.interfaces.js';
import {ToolResult} from '../../types/tool.interfaces.js';

import {BaseTool} from './base-tool.js';

/** Cycles of loops: @REPOSITORY@ */
export class CyclelensTool extends BaseTool {
    static get key() {
        return 'cyclelens-tool';
    }

    override async runTool(compilationInfo: CompilationInfo, inputFilepath?: string, args?: string[]): Promise<ToolResult> {
        if (compilationInfo.filters.binary) {
            return this.createErrorResponse('Cyclelens reads the assembly: leave out "Compile to binary".');
        }
        const file = path.join(path.dirname(compilationInfo.outputFilename), 'cyclelens.asm');
        // What the output pane shows: the compiler's text has to be filtered first.
        const {asm, asmParser, filters} = compilationInfo;
        const lines = typeof asm === 'string' ? asmParser.process(asm, filters).asm : (asm ?? []);
        await fs.writeFile(file, lines.map(line => line.text).join('\n') + '\n', 'utf8');
        const syntax = filters.intel ? 'intel' : 'att';
        const always = ['analyze', '--no-external-programs', '--arch', 'SKL', '--syntax', syntax];
        return super.runTool(compilationInfo, file, [...always, ...(args ?? [])]);
    }
}
