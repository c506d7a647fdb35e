// A plugin of clang 19 that leaves clang-tidy's checks the declarations that no system header
// makes. Its version 19 runs every check over all of the standard library and GoogleTest too, which
// is two thirds of its time, and throws away what it finds there.

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include <memory>
#include <string>
#include <vector>

namespace {

class OwnDeclarations : public clang::ASTConsumer {
 public:
  /// Runs when all is compiled, before the checks. They still reach what a declaration of ours
  /// names.
  void HandleTranslationUnit(clang::ASTContext& context) override {
    clang::TranslationUnitDecl* unit = context.getTranslationUnitDecl();
    context.getParents(*unit);  // made now, the table of parents has those of system headers too
    const clang::SourceManager& sources = context.getSourceManager();
    std::vector<clang::Decl*> theirs;
    for (clang::Decl* one : unit->decls()) {
      if (sources.isInSystemHeader(sources.getExpansionLoc(one->getLocation())))
        theirs.push_back(one);
    }
    for (clang::Decl* one : theirs) unit->removeDecl(one);
  }
};

class Plugin : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& /*compiler*/,
                                                        llvm::StringRef /*file*/) override {
    return std::make_unique<OwnDeclarations>();
  }

  bool ParseArgs(const clang::CompilerInstance& /*compiler*/,
                 const std::vector<std::string>& /*given*/) override {
    return true;
  }

  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<Plugin> kAdded("own-declarations",
                                                        "hides system headers from checks");

}  // namespace
