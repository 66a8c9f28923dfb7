@echo off
rem See the file `farwharf`, which is the same for other systems.
setlocal
set ELECTRON_RUN_AS_NODE=1
"%FARWHARF_EDITOR_NODE%" "%~dp0..\dist\cli.mjs" %*
